! SPDX-License-Identifier: BSD-3-Clause
! A program that knows nothing of Isochrone: collective operations from Fortran, with MPI_IN_PLACE
! and MPI_BOTTOM. Compile with -DMPI_H (mpif.h), -DMPI_MODULE (mpi) or -DMPI_F08 (mpi_f08).
program collectives
#ifdef MPI_F08
  use mpi_f08
#define HANDLE(kind) type(kind)
#else
#ifdef MPI_MODULE
  use mpi
#endif
#define HANDLE(kind) integer
#endif
  implicit none
#ifdef MPI_H
  include 'mpif.h'
#endif
  integer, parameter :: count = 25
  integer :: rank, ranks, error, k
  integer :: send(count * 64), receive(count * 64), block(count)
  integer(kind=MPI_ADDRESS_KIND) :: place(1)
  HANDLE(MPI_Datatype) :: absolute
#ifdef THREADS
  integer :: given
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, given, error)
#else
#ifdef MPI_F08
  call MPI_Init()
#else
  call MPI_Init(error)
#endif
#endif
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)

  call fill()
  call MPI_Bcast(receive, count, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, error)
  call say('bcast', count)

  call fill()
  block = receive(1:count)
  call MPI_Get_address(block, place(1), error)
  call MPI_Type_create_hindexed(1, [count], place, MPI_INTEGER, absolute, error)
  call MPI_Type_commit(absolute, error)
  call MPI_Bcast(MPI_BOTTOM, 1, absolute, 0, MPI_COMM_WORLD, error)
  call MPI_Type_free(absolute, error)
  receive(1:count) = block
  call say('bcast of absolute addresses', count)

  call fill()
  if (rank == 1) then
    receive(count + 1:2 * count) = send(1:count)
    call MPI_Gather(MPI_IN_PLACE, count, MPI_INTEGER, receive, count, MPI_INTEGER, 1, &
                    MPI_COMM_WORLD, error)
  else
    call MPI_Gather(send, count, MPI_INTEGER, receive, count, MPI_INTEGER, 1, MPI_COMM_WORLD, error)
  end if
  call say('gather', count * ranks)

  call fill()
  if (rank == 0) then
    call MPI_Scatter(send, count, MPI_INTEGER, MPI_IN_PLACE, count, MPI_INTEGER, 0, &
                     MPI_COMM_WORLD, error)
  else
    call MPI_Scatter(send, count, MPI_INTEGER, receive, count, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  end if
  call say('scatter', count)

  call fill()
  if (rank == 0) then
    call MPI_Reduce(MPI_IN_PLACE, receive, count, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
  else
    call MPI_Reduce(receive, send, count, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
  end if
  call say('reduce', count)

  call fill()
  call MPI_Allreduce(MPI_IN_PLACE, receive, count, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, error)
  call say('allreduce', count)

  call fill()
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, receive, count, MPI_INTEGER, &
                     MPI_COMM_WORLD, error)
  call say('allgather', count * ranks)

  call fill()
  call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, receive, count, MPI_INTEGER, &
                    MPI_COMM_WORLD, error)
  call say('alltoall', count * ranks)

  call fill()
  call MPI_Reduce_scatter_block(send, receive, count, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call say('reduce_scatter_block', count)
#ifdef MPI_F08
  call MPI_Finalize()
#else
  call MPI_Finalize(error)
#endif

contains

  subroutine fill()
    do k = 1, count * 64
      send(k) = rank * 7919 + k * 31
      receive(k) = rank * 104729 + k * 17
    end do
  end subroutine fill

  subroutine say(name, length)  ! one after the other, to rank 0, which prints
    character(*), intent(in) :: name
    integer, intent(in) :: length
    integer :: from, total
    total = 0
    do k = 1, length
      total = mod(total * 3 + mod(abs(receive(k)), 1000003), 1000003)
    end do
    if (rank /= 0) call MPI_Send(total, 1, MPI_INTEGER, 0, 5, MPI_COMM_WORLD, error)
    do from = 0, merge(ranks - 1, -1, rank == 0)
      if (from > 0) call MPI_Recv(total, 1, MPI_INTEGER, from, 5, MPI_COMM_WORLD, &
                                  MPI_STATUS_IGNORE, error)
      print '(a, " ", i0, ": ", i0)', name, from, total
    end do
  end subroutine say

end program collectives
