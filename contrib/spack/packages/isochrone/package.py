# SPDX-License-Identifier: BSD-3-Clause
import os

from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class Isochrone(PythonPackage):
    """Measure, model, predict and reduce what communication between MPI processes costs.

    The probe is compiled with the MPI of the spec and found on PATH, before any other.
    """

    pypi = "isochrone/isochrone-0.1.0.tar.gz"

    license("BSD-3-Clause", checked_by="isochrone")

    # There is no public release yet, and so no checksum: `spack develop` a checkout,
    #     spack develop --path /path/to/isochrone isochrone@develop
    version("develop")

    variant("report", default=True, description="Reports and figures: matplotlib, Pillow, Jinja2")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("mpi")

    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-hatchling@1.27:", type="build")

    with default_args(type=("build", "run")):
        depends_on("py-msgspec@0.19:")
        depends_on("py-networkx@3.3:")
        depends_on("py-numpy@1.26:")
        depends_on("py-rich@13.7:")
        depends_on("py-ruamel-yaml@0.18:")
        depends_on("py-scipy@1.11:")
        depends_on("py-shtab@1.13:")

        with when("+report"):
            depends_on("py-jinja2@3.1:")
            depends_on("py-matplotlib@3.8:")
            depends_on("py-pillow@10:")

    @run_after("install")
    def install_probe(self):
        """Compile the probe, which measures, with the MPI of the spec."""
        with working_dir(os.path.join(self.stage.source_path, "probe")):
            make("install", "PREFIX=" + self.prefix, "MPICC=" + self.spec["mpi"].mpicc)

    def setup_run_environment(self, env):
        """Let what is compiled later, such as the recorder, be of the same MPI."""
        env.set("MPICC", self.spec["mpi"].mpicc)

    def test_probe(self):
        """The probe starts without a launcher, and makes up a map."""
        probe = which(self.prefix.bin.join("isochrone-probe"))
        out = probe("synthetic", "--shape", "2,2", output=str.split, error=str.split)
        assert '"complete":true' in out
