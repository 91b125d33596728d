#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Little memory, few processes, and numbers of threads that make no sense: the program
# ends soon, with a result or with status 5 and a sentence.
. "$(dirname "$0")/cli/common.sh"
cd "$work" || exit 1

# kept LIMIT ARGUMENTS...: the program under `prlimit` solves, or ends with status 5
# and one line; nothing else is said but warnings. A limit under which the program is
# not even loaded tells nothing.
kept() {
    limits=$1
    shift
    prlimit "$limits" "$TACIT" --version >/dev/null 2>&1 || return 0
    timeout 120 prlimit "$limits" "$program" "$@" >out 2>err
    status=$?
    case $status in
        0) [ -z "$(complaints)" ] || complain "$limits tacit $*: a complaint" ;;
        5) [ "$(complaints | wc -l)" = 1 ] || complain "$limits tacit $*: no sentence" ;;
        *) complain "$limits tacit $*: status $status" ;;
    esac
    ! grep -q 'libgomp: Thread\|libgomp: Out\|OpenBLAS blas' err ||
        complain "$limits tacit $*: a library speaks"
}

program=$TACIT
command -v prlimit >/dev/null || { echo "skipped: no prlimit"; exit 77; }
if prlimit --as=2000000000 "$TACIT" --version >/dev/null 2>&1; then # no sanitizer
    for kib in 40000 80000 150000 300000 500000; do
        for OMP_NUM_THREADS in 1 2; do
            kept "--as=${kib}000" factor poisson2d:6
        done
        kept "--as=${kib}000" solve poisson2d:6 --method direct --threads 2
    done
    OMP_NUM_THREADS=64
    kept --as=500000000 solve poisson2d:30 --precond direct
    kept --as=80000000 solve poisson3d:12 --precond amg
    OMP_NUM_THREADS=1
    kept --as=2000000000 factor poisson2d:6
    grep -q 'by own$' out && complain "own loops where there is room for others"
else
    echo "not under limits of memory: a sanitizer needs more"
fi

# a control group, of either version, where one can be made
one=/sys/fs/cgroup/memory$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
two=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
group=
for limit in "$one/tacit-$$/memory.limit_in_bytes" "$two/tacit-$$/memory.max"; do
    [ -z "$group" ] || continue
    mkdir "${limit%/*}" 2>/dev/null || continue
    group=${limit%/*}
    if [ ! -e "$limit" ] || ! echo 300000000 2>/dev/null >"$limit"; then
        rmdir "$group"
        group=
    fi
done
if [ -n "$group" ]; then
    cat >grouped <<'EOF'
#!/bin/sh
echo $$ >"$group/cgroup.procs" && exec "$TACIT" "$@"
EOF
    chmod 755 grouped
    program=./grouped
    export group
    OMP_NUM_THREADS=1
    for matrix in poisson3d:300 random:2000000,20; do
        kept --core=0 solve "$matrix" --max-iterations 5
        [ $status = 5 ] || complain "$matrix in a group of 300 MB: status $status"
        has err 'GiB'
    done
    kept --core=0 solve poisson3d:60 # copies are measured in less
    [ $status = 0 ] || complain "poisson3d:60 in a group of 300 MB: status $status"
    rmdir "$group"
else
    echo "not in a control group: none can be made here"
fi

# root has no limit of processes
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    chmod 755 .
    cp "$TACIT" tacit
    cat >nobody <<'EOF'
#!/bin/sh
exec setpriv --reuid 65534 --regid 65534 --clear-groups \
    prlimit --nproc="$processes" ./tacit "$@"
EOF
    chmod 755 nobody tacit
    program=./nobody
    for processes in 1 2 3; do
        export processes
        for OMP_NUM_THREADS in 2 8; do
            kept --core=0 factor poisson2d:6
            kept --core=0 solve poisson2d:30 --precond direct
        done
    done
    processes=1
    OMP_NUM_THREADS=1
    kept --core=0 solve poisson2d:6 --ranks 2
    [ $status = 5 ] || complain "2 ranks in one process: status $status"
else
    echo "not with few processes: that takes root, and setpriv"
fi

# numbers of threads that make no sense: a note, and as many as there may be
program=$TACIT
for OMP_NUM_THREADS in 100000 2147483648 0 -1 abc 1.5; do
    kept --core=0 solve poisson2d:6 --method cg
    [ $status = 0 ] || complain "OMP_NUM_THREADS=$OMP_NUM_THREADS: status $status"
    grep -qF "OMP_NUM_THREADS is '$OMP_NUM_THREADS'" err ||
        complain "OMP_NUM_THREADS=$OMP_NUM_THREADS: no note"
done
OMP_NUM_THREADS=100000
kept --core=0 solve poisson2d:6 --threads 1
[ $status = 0 ] || complain "100000 threads where 1 is asked for: status $status"
for OMP_NUM_THREADS in 2 2,1 ' 2 '; do
    kept --core=0 solve poisson2d:6
    ! grep -q 'warning: OMP' err || complain "'$OMP_NUM_THREADS': a note"
    grep -q ', 2 threads)' out || complain "'$OMP_NUM_THREADS': not 2 threads"
done
finish
