"""What a process gives up before it reads a file of a stranger: files, network, other processes, and root."""

import ctypes
import errno
import os
import resource
import signal
import struct
import sys
from contextlib import suppress

MEMORY = 1 << 29
NOBODY = 65534

PR_SET_PDEATHSIG = 1
PR_SET_NO_NEW_PRIVS = 38
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
SECCOMP_RET_ERRNO, SECCOMP_RET_ALLOW = 0x0005_0000, 0x7FFF_0000

# What is left: to use memory and the files that are open, to ask for the time, and to end. By the machine: how the
# kernel calls it, and the numbers of these calls there.
CALLS = {
    "x86_64": (
        0xC000_003E,
        {
            *(0, 1, 3, 5, 8),  # read write close fstat lseek
            *(9, 10, 11, 12, 25, 28),  # mmap mprotect munmap brk mremap madvise
            *(13, 14, 15, 131),  # rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack
            *(24, 39, 186, 202, 219),  # sched_yield getpid gettid futex restart_syscall
            *(96, 201, 228, 318),  # gettimeofday time clock_gettime getrandom
            *(60, 231),  # exit exit_group
        },
        234,  # tgkill
    ),
    "aarch64": (
        0xC000_00B7,
        {
            *(63, 64, 57, 80, 62),
            *(222, 226, 215, 214, 216, 233),
            *(134, 135, 139, 132),
            *(124, 172, 178, 98, 128),
            *(169, 113, 278),
            *(93, 94),
        },
        131,
    ),
}


def enter(parent: int, seconds: int) -> str | None:
    """Give up everything, and end with the parent; returns the reason where calls cannot be filtered.

    What is to be loaded has been loaded: later nothing can be.
    """
    give_up_rights()
    # Again: whoever becomes another user is no longer told.
    die_with(parent)
    limit(seconds)
    return confine()


def die_with(parent: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def limit(seconds: int) -> None:
    """Little memory and time, no new file, no new process."""
    limits = {
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NOFILE: 0,
        resource.RLIMIT_NPROC: 0,
        resource.RLIMIT_CORE: 0,
    }
    # Other systems refuse it, or count what was never used.
    if sys.platform == "linux":
        limits[resource.RLIMIT_AS] = MEMORY
    for kind, most in limits.items():
        _, hard = resource.getrlimit(kind)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))


def give_up_rights() -> None:
    """Without root, which could raise its limits again and read its parent's memory, and with no file but 0, 1, 2."""
    os.closerange(3, 1024)
    if os.geteuid() == 0:
        # Where a container knows no other user, it stays what it is.
        with suppress(OSError):
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)


def confine() -> str | None:
    """Have the kernel refuse all but a few harmless calls; returns the reason where it cannot."""
    machine = CALLS.get(os.uname().machine)
    if sys.platform != "linux" or machine is None:
        return f"no filter of system calls for {sys.platform} on {os.uname().machine}"
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    if prctl(PR_SET_NO_NEW_PRIVS, *map(ctypes.c_ulong, (1, 0, 0, 0))) != 0:
        return f"no_new_privs: {errno.errorcode.get(ctypes.get_errno())}"
    code = ctypes.create_string_buffer(filter_of(*machine, os.getpid()))
    program = struct.pack("HxxxxxxP", (len(code) - 1) // 8, ctypes.addressof(code))
    if prctl(PR_SET_SECCOMP, ctypes.c_ulong(SECCOMP_MODE_FILTER), ctypes.c_char_p(program)) != 0:
        return f"seccomp: {errno.errorcode.get(ctypes.get_errno())}"
    return None


def filter_of(machine: int, allowed: set[int], tgkill: int, process: int) -> bytes:
    """A program for the kernel: instructions of a code, where to go if true and if false, and a value."""
    load, equals, answer = 0x20, 0x15, 0x06
    # Where things are in what it looks at: number of the call, machine, first argument.
    number, architecture, argument = 0, 4, 16
    program = [
        (load, 0, 0, architecture),
        (equals, 1, 0, machine),
        (answer, 0, 0, SECCOMP_RET_ERRNO | errno.EACCES),
        (load, 0, 0, number),
        *((equals, len(allowed) + 3 - at, 0, call) for at, call in enumerate(sorted(allowed))),
        # A library that gives up sends a signal to itself, and may not send one to others.
        (equals, 0, 2, tgkill),
        (load, 0, 0, argument),
        (equals, 1, 0, process),
        (answer, 0, 0, SECCOMP_RET_ERRNO | errno.EACCES),
        (answer, 0, 0, SECCOMP_RET_ALLOW),
    ]
    return b"".join(struct.pack("HBBI", *instruction) for instruction in program)
