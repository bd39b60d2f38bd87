"""A machine on which mpiexec starts ranks, as a beginning of ReFrame's settings for yours."""

site_configuration = {
    "systems": [
        {
            "name": "here",
            "descr": "This machine, without a batch system",
            "hostnames": [".*"],
            "partitions": [
                {
                    "name": "all",
                    "descr": "For Slurm: scheduler slurm, launcher srun",
                    "scheduler": "local",
                    "launcher": "mpiexec",
                    "environs": ["builtin"],
                    "max_jobs": 1,
                }
            ],
        }
    ],
    "environments": [{"name": "builtin", "target_systems": ["here"]}],
}
