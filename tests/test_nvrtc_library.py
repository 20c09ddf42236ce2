"""NVRTC is loaded so that it finds its built-ins, whichever wheel or toolkit it is from."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from nearfield.engines.cuda.compiler import compiler_at

BUILT_INS = "libnvrtc-builtins.so.13.0"
LIBRARY = f"""#include <dlfcn.h>
int nvrtcVersion(int *major, int *minor) {{
    *major = dlopen("{BUILT_INS}", RTLD_NOW) ? 13 : 0;
    return *minor = 0;
}}
int nvrtcGetNumSupportedArchs(int *count) {{ *count = 1; return 0; }}
int nvrtcGetSupportedArchs(int *all) {{ *all = 90; return 0; }}
"""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler is here")
def test_built_ins_beside_a_library_that_does_not_name_their_folder_are_found(tmp_path):
    """The wheel of NVRTC 13.0 has no RUNPATH: "failed to open libnvrtc-builtins.so.13.0"."""

    def built(name: str, text: str) -> str:
        command = ["gcc", "-shared", "-fPIC", f"-Wl,-soname,{name}", "-x", "c", "-", "-o", str(tmp_path / name), "-ldl"]
        subprocess.run(command, input=text, text=True, check=True)
        return str(tmp_path / name)

    built(BUILT_INS, "int nothing;")
    found = compiler_at(built("libnvrtc.so.13", LIBRARY))
    assert found is not None and (found.version, found.architectures) == ((13, 0), (90,))
