! SPDX-License-Identifier: BSD-3-Clause
! A program that knows nothing of Isochrone: messages and completions from Fortran, on all ranks and
! on half of them. Compile with -DMPI_H (mpif.h), -DMPI_MODULE (mpi) or -DMPI_F08 (mpi_f08).
program messages
#ifdef MPI_F08
  use mpi_f08
#define HANDLE(kind) type(kind)
#define STATUS type(MPI_Status)
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
  integer, parameter :: n = 25
  integer :: rank, ranks, next, before, error, k, found, place
  integer :: send(n), receive(n), wide(n * 4), counts(4), at(4)
  logical :: done
  HANDLE(MPI_Request) :: requests(2)
  HANDLE(MPI_Comm) :: half
#ifdef MPI_F08
  type(MPI_Status) :: status
#else
  integer :: status(MPI_STATUS_SIZE)
#endif
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  next = mod(rank + 1, ranks)
  before = mod(rank + ranks - 1, ranks)
  send = rank
  do k = 1, 10
    call MPI_Irecv(receive, n, MPI_INTEGER, before, 1, MPI_COMM_WORLD, requests(1), error)
    call MPI_Isend(send, n, MPI_INTEGER, next, 1, MPI_COMM_WORLD, requests(2), error)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
    call check(receive(n) == before)
  end do
  call MPI_Sendrecv(send, n, MPI_INTEGER, next, 2, wide, n * 4, MPI_INTEGER, before, 2, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  if (rank == 0) then
    call MPI_Send(send, 3, MPI_INTEGER, 1, 3, MPI_COMM_WORLD, error)
  else if (rank == 1) then
    call MPI_Recv(wide, n * 4, MPI_INTEGER, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, status, error)
    call MPI_Get_count(status, MPI_INTEGER, found, error)
    call check(found == 3)
  end if
  call MPI_Send_init(send, n, MPI_INTEGER, next, 4, MPI_COMM_WORLD, requests(1), error)
  call MPI_Recv_init(receive, n, MPI_INTEGER, before, 4, MPI_COMM_WORLD, requests(2), error)
  do k = 1, 5
    call MPI_Startall(2, requests, error)
#ifdef MPI_F08 /* the index of MPICH 4.0's mpi_f08 is one too small */
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, error)
    call MPI_Wait(requests(2), status, error)
#else
    call MPI_Waitany(2, requests, place, MPI_STATUS_IGNORE, error)
    call MPI_Waitany(2, requests, place, status, error)
#endif
  end do
  call MPI_Request_free(requests(1), error)
  call MPI_Request_free(requests(2), error)
  call MPI_Ibarrier(MPI_COMM_WORLD, requests(1), error)
  done = .false.
  do while (.not. done)
    call MPI_Test(requests(1), done, MPI_STATUS_IGNORE, error)
  end do
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half, error)
  call MPI_Barrier(half, error)
  call MPI_Bcast(receive, n, MPI_INTEGER, 0, half, error)
  counts = [1, 2, 3, 2]
  at = [0, 1, 3, 6]
  call MPI_Allgatherv(send, counts(rank + 1), MPI_INTEGER, wide, counts, at, MPI_INTEGER, &
                      MPI_COMM_WORLD, error)
  call check(wide(4) == 2)
  call MPI_Comm_free(half, error)
  call MPI_Finalize(error)

contains

  subroutine check(right)
    logical, intent(in) :: right
    if (.not. right) stop 3
  end subroutine check

end program messages
