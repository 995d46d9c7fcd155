"""The seccomp filters: which system calls a child may make. Everything else fails with EPERM.

An allow list, so that what a later kernel adds is denied. Without fork, exec and sockets a child stays one
process that can reach nothing and that leaves nothing behind.

The list itself is installed once, in the server, whose children inherit it; it also allows the few calls
that make a child. Each child adds a filter that takes these away: the kernel compiles a filter when it is
installed, and this one is much shorter.
"""

import ctypes
import os
import platform
import signal
import struct
from typing import NamedTuple

from . import system

_TABLE = """
read 0 63, write 1 64, readv 19 65, writev 20 66, pread64 17 67, pwrite64 18 68, preadv 295 69,
pwritev 296 70, close 3 57, close_range 436 436, fstat 5 80, newfstatat 262 79, stat 4 -, lstat 6 -,
statx 332 291, lseek 8 62, access 21 -, faccessat 269 48, faccessat2 439 439, readlink 89 -,
readlinkat 267 78, open 2 -, openat 257 56, creat 85 -, getdents 78 -, getdents64 217 61, getcwd 79 17,
chdir 80 49, fchdir 81 50, dup 32 23, dup2 33 -, dup3 292 24, fcntl 72 25, ioctl 16 29, pipe 22 -,
pipe2 293 59, poll 7 -, ppoll 271 73, select 23 -, pselect6 270 72, epoll_create 213 -,
epoll_create1 291 20, epoll_ctl 233 21, epoll_wait 232 -, epoll_pwait 281 22, eventfd 284 -,
eventfd2 290 19, mmap 9 222, munmap 11 215, mprotect 10 226, mremap 25 216, madvise 28 233, brk 12 214,
msync 26 227, mincore 27 232, rt_sigaction 13 134, rt_sigprocmask 14 135, rt_sigreturn 15 139,
sigaltstack 131 132, rt_sigsuspend 130 133, rt_sigtimedwait 128 137, rt_sigpending 127 136, pause 34 -,
clock_gettime 228 113, clock_getres 229 114, clock_nanosleep 230 115, nanosleep 35 101,
gettimeofday 96 169, time 201 -, times 100 153, getpid 39 172, getppid 110 173, gettid 186 178,
getuid 102 174, geteuid 107 175, getgid 104 176, getegid 108 177, getresuid 118 148, getresgid 120 150,
getgroups 115 158, getpgrp 111 -, getpgid 121 155, getsid 124 156, getrlimit 97 163, setrlimit 160 164,
prlimit64 302 261, getrusage 98 165, sysinfo 99 179, uname 63 160, getrandom 318 278,
sched_yield 24 124, sched_getaffinity 204 123, sched_getparam 143 121, sched_getscheduler 145 120,
sched_get_priority_max 146 125, sched_get_priority_min 147 126, getcpu 309 168, getpriority 140 141,
futex 202 98, set_robust_list 273 99, get_robust_list 274 100, rseq 334 293, set_tid_address 218 96,
membarrier 324 283, clone 56 220, clone3 435 435, exit 60 93, exit_group 231 94,
restart_syscall 219 128, kill 62 129, tgkill 234 131, arch_prctl 158 -, prctl 157 167, ftruncate 77 46,
fsync 74 82, fdatasync 75 83, fadvise64 221 223, unlink 87 -, unlinkat 263 35,
rename 82 -, renameat 264 38, renameat2 316 276, mkdir 83 -, mkdirat 258 34, rmdir 84 -,
umask 95 166, statfs 137 43,
fstatfs 138 44, sendfile 40 71, copy_file_range 326 285, alarm 37 -, setitimer 38 103,
getitimer 36 102, wait4 61 260, waitid 247 95, capget 125 90, socketpair 53 199, execve 59 221,
pkey_alloc 330 289, pkey_free 331 290, pkey_mprotect 329 288, symlink 88 -, symlinkat 266 36,
sendto 44 206, recvfrom 45 207, recvmsg 47 212, shutdown 48 210, getsockopt 55 209,
getsockname 51 204, getpeername 52 205
"""
"""Name, number on x86_64, number on aarch64."""
_SERVER_TABLE = """
setsid 112 157, setgroups 116 159, setresgid 119 149, setresuid 117 147, capset 126 91, seccomp 317 277,
landlock_restrict_self 446 446, pidfd_open 434 434, sendmsg 46 211
"""
"""What only the server does, or a child before it is confined."""

_PRETENDED_TABLE = """
chmod 90 -, fchmod 91 52, fchmodat 268 53, utimensat 280 88, listxattr 194 11, llistxattr 195 12, flock 73 32
"""
"""Calls that seem to succeed and do nothing. Landlock does not cover modes and times: a child that runs as
the calling user could make all of their files unreadable. Programs that copy a file or clean up set them, and
`shutil.copy2` asks for the names of further attributes, of which there are none.
A lock would be seen by other programs, and outlive its program on a file that is open elsewhere, too; in a
process that can reach no other nothing is locked by anybody else, which is what SQLite wants to know."""
_PRETENDED_TIMERS = "timer_create 222 107, timer_settime 223 110, timer_gettime 224 108, timer_delete 226 111"
"""Refused to Python, pretended to other languages, because Ruby warns where it gets no timer (it needs none).
They could send any signal, SIGKILL included, and a filter cannot see which: a program that ended itself by
one would look as if it had been killed from outside."""

_COLUMN = {"x86_64": 1, "aarch64": 2}
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

_AF_UNIX = 1
_ENOSYS = 38
_OWN_PID = 0x7EADBEEF  # replaced in each child by its own pid


class _Condition(NamedTuple):
    """A call is allowed if this argument, under `mask`, is one of `values`, or if it has a bit of `bit`."""

    argument: int
    values: tuple[int, ...] = ()
    bit: int = 0
    mask: int = 0
    pretended: tuple[int, ...] = ()
    """Values with which the call seems to succeed and does nothing."""
    fatal: tuple[int, int] | None = None
    """An argument and its value that end the process by SIGSYS, whatever its other arguments."""

    def steps(self) -> list[bytes]:
        steps = []
        if self.fatal is not None:
            argument, value = self.fatal
            steps += [_step(_LOAD, 16 + 8 * argument), _step(_JUMP_EQUAL, value, 0, 1), _step(_RETURN, _KILL)]
        steps.append(_step(_LOAD, 16 + 8 * self.argument))  # low word: these arguments are ints
        if self.mask:
            steps.append(_step(_AND, self.mask))
        for value in self.values:
            steps += [_step(_JUMP_EQUAL, value, 0, 1), _step(_RETURN, _ALLOW)]
        for value in self.pretended:
            steps += [_step(_JUMP_EQUAL, value, 0, 1), _step(_RETURN, _ERRNO)]
        if self.bit:
            steps += [_step(_JUMP_SET, self.bit, 0, 1), _step(_RETURN, _ALLOW)]
        return [*steps, _step(_RETURN, _DENY)]


_PRCTL = (3, 15, 16, 23, 39, 0x53564D41)
_CLONE_DETACHED, _PTHREAD_FLAGS = 0x400000, 0x3D0F00
"""What the C libraries make threads with: they share memory, descriptors and signals (musl sets the first,
too, which means nothing). So all threads of a program share one table of descriptors, which is limited."""
_MAP_PRIVATE, _MAP_KIND, _MAP_ANONYMOUS = 0x02, 0x0F, 0x20
_MAP_UNCOUNTED = 0x40000 | 0x100
"""Huge pages, which are the machine's; a mapping that grows like a stack, which RLIMIT_DATA leaves out."""
_O_NONBLOCK_DIRECT_CLOEXEC = os.O_NONBLOCK | os.O_DIRECT | os.O_CLOEXEC
_READ, _WRITE, _BOTH, _TRUNCATE, _NAMELESS = 0, 1, 2, 0o1000, 0o20000000
_OPENING = (_READ, _WRITE, _BOTH, _WRITE | _TRUNCATE, _BOTH | _TRUNCATE)
_CONDITIONS = {
    # A file can be emptied by one who opens it for reading; Landlock knows of that since Linux 6.2 only.
    # No O_TMPFILE: such a file leaves no trace in the folder by which the server knows that it was used.
    "open": _Condition(1, _OPENING, mask=0o3 | _TRUNCATE | _NAMELESS),
    "openat": _Condition(2, _OPENING, mask=0o3 | _TRUNCATE | _NAMELESS),
    # Duplicates, flags, the size of a pipe. No F_SETOWN, by which the kernel would send signals, no leases,
    # no F_GETLK; locks are pretended, as flock is.
    "fcntl": _Condition(1, (0, 1, 2, 3, 4, 1030, 1032), pretended=(6, 7, 37, 38)),
    # Without CLOSE_RANGE_UNSHARE, which would give a thread a table of descriptors of its own.
    "close_range": _Condition(2, (0, 4)),
    # Without O_NOTIFICATION_PIPE.
    "pipe2": _Condition(1, (0,), mask=0xFFFFFFFF & ~_O_NONBLOCK_DIRECT_CLOEXEC),
    # Only what concerns the caller's own threads: other commands interrupt all of the machine's processors.
    "membarrier": _Condition(0, (0, 8, 16, 32, 64)),
    "mmap": _Condition(3, (0,), mask=_MAP_UNCOUNTED),
    # What makes a child: PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_KEEPCAPS.
    "prctl": _Condition(0, (*_PRCTL, 1, 4, 8)),
    # Only queries about a terminal, blocking and close-on-exec.
    "ioctl": _Condition(1, (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)),
    "prlimit64": _Condition(0, (0,)),
    # asyncio's own wake-up pair; children have no way to name anything else that it could reach.
    "socketpair": _Condition(0, (_AF_UNIX,)),
}
_ONLY_PRIVATE_MAPPINGS = _Condition(
    3, (_MAP_PRIVATE, _MAP_PRIVATE | _MAP_ANONYMOUS), mask=_MAP_UNCOUNTED | _MAP_KIND | _MAP_ANONYMOUS
)
"""For `mmap` where the memory limit is RLIMIT_DATA, which does not count shared memory."""
_CHILD_CONDITIONS = {
    # Threads yes, processes no.
    "clone": _Condition(0, (_PTHREAD_FLAGS,), mask=0xFFFFFFFF & ~_CLONE_DETACHED),
    # Signals only to itself, and no other way to make the kernel send one. SIGKILL ends it all the same, but
    # by another signal: so a child that died of SIGKILL was killed from outside, by the kernel for want of
    # memory or by a person, and that is no result.
    "kill": _Condition(0, (_OWN_PID,), fatal=(1, signal.SIGKILL)),
    "tgkill": _Condition(0, (_OWN_PID,), fatal=(2, signal.SIGKILL)),
    # Every limit but that of CPU time (number 0), beyond which the kernel sends SIGKILL.
    "prlimit64": _Condition(1, bit=0xFFFF),
    "setrlimit": _Condition(0, bit=0xFFFF),
    "prctl": _Condition(0, _PRCTL),
    # To the other end of a pair only: a datagram could name any socket that the file system shows.
    "sendto": _Condition(5, (0,)),
}

_LOAD, _JUMP, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_SET, _RETURN = 0x20, 0x05, 0x15, 0x35, 0x45, 0x06
_AND = 0x54
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_DENY = _ERRNO | 1  # EPERM


def build_server_filter(*, may_exec: bool, counts_shared_memory: bool) -> bytes:
    """The allow list as BPF instructions.

    `may_exec` is for languages whose interpreter is started by exec. Where the memory limit does not count
    shared memory, none may be mapped.

    Raises KeyError on an architecture whose call numbers are not in the table; so does `build_child_filter`.
    """
    numbers = _numbers(_TABLE) | _numbers(_SERVER_TABLE)
    pretended = _numbers(_PRETENDED_TABLE)
    if may_exec:
        pretended |= _numbers(_PRETENDED_TIMERS)
    else:
        del numbers["execve"]
    bodies = {number: [_step(_RETURN, _ALLOW)] for number in numbers.values()}
    bodies |= {numbers[name]: rule.steps() for name, rule in _CONDITIONS.items() if name in numbers}
    # The flags of clone3 are out of reach; the C library falls back to clone.
    bodies[numbers["clone3"]] = [_step(_RETURN, _ERRNO | _ENOSYS)]
    if not counts_shared_memory:
        bodies[numbers["mmap"]] = _ONLY_PRIVATE_MAPPINGS.steps()
    bodies |= {number: [_step(_RETURN, _ERRNO)] for number in pretended.values()}
    head = [
        _step(_LOAD, 4),  # the architecture: system calls have other numbers on another one
        _step(_JUMP_EQUAL, _ARCHITECTURE[platform.machine()], 1, 0),
        _step(_RETURN, _KILL),
        _step(_LOAD, 0),
    ]
    return b"".join([*head, *_search(bodies, _DENY)])


def build_child_filter() -> bytes:
    """What a child adds: the server's own calls are denied, and others have conditions."""
    conditional = _numbers(_TABLE)
    bodies = {conditional[name]: condition.steps() for name, condition in _CHILD_CONDITIONS.items()}
    bodies |= {number: [_step(_RETURN, _DENY)] for number in _numbers(_SERVER_TABLE).values()}
    return b"".join([_step(_LOAD, 0), *_search(bodies, _ALLOW)])


def _numbers(table: str) -> dict[str, int]:
    column = _COLUMN[platform.machine()]
    rows = (entry.split() for entry in table.split(","))
    return {row[0]: int(row[column]) for row in rows if row[column] != "-"}


def _search(bodies: dict[int, list[bytes]], otherwise: int) -> list[bytes]:
    """A binary search: the kernel walks the filter once for every call number when it installs it."""
    # Ranges of call numbers with one treatment each: (first number, treatment), from 0 on.
    ranges: list[tuple[int, list[bytes]]] = []
    for number in range(max(bodies) + 2):
        body = bodies.get(number, [_step(_RETURN, otherwise)])
        if not ranges or ranges[-1][1] != body:
            ranges.append((number, body))

    def search(part: list[tuple[int, list[bytes]]]) -> list[bytes]:
        if len(part) == 1:
            return part[0][1]
        middle = len(part) // 2
        below, above = search(part[:middle]), search(part[middle:])
        return [_step(_JUMP_AT_LEAST, part[middle][0], 0, 1), _step(_JUMP, len(below)), *below, *above]

    return search(ranges)


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)


class Filter:
    """A filter that is ready to be installed, but for the pid of the process that does it."""

    def __init__(self, program: bytes) -> None:
        self._program = ctypes.create_string_buffer(program, len(program))
        placeholder = struct.pack("<I", _OWN_PID)
        self._places = [at for at in range(0, len(program), 4) if program[at : at + 4] == placeholder]
        self._install = system.install_filter(self._program)

    def install(self) -> None:
        """Confines the calling process to the filter, and its signals to itself."""
        pid = os.getpid()
        for at in self._places:
            _WORD.pack_into(self._program, at, pid)
        system.take(self._install)


_WORD = struct.Struct("<I")
