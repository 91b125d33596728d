#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# `tacit bench`: which rows and columns there are, and that every number of them
# is one; which it is, is for benchmarks.
. "$(dirname "$0")/cli/common.sh"
cd "$work" || exit 1
host='--device host --warmup 0 --repeat 1'

# head_is COLUMN...: the first line of out has these and no others
head_is() {
    want=$(printf '%s\t' "$@")
    [ "$(head -1 out)" = "${want%	}" ] || complain "$label: head '$(head -1 out)'"
}

# column NAME N: column N in rows of link NAME
column() {
    awk -F'\t' -v link="$1" -v n="$2" '$1 == link { printf "%s ", $n }' out
}

# In each row as many cells as in the head, those from FROM on numbers above 0.
numbers_from() { # FROM
    awk -F'\t' -v from="$1" 'NR == 1 { n = NF; next }
        { for (i = from; i <= NF; i++) bad += !($i + 0 > 0); bad += NF != n }
        END { exit bad > 0 || NR < 2 }' out || complain "$label: cells: $(cat out)"
}

# The links that stand in out are these, and in this order.
links_are() { # LINKS
    [ "$(tail -n +2 out | cut -f1 | uniq | tr '\n' ' ')" = "$1" ] ||
        complain "$label: links $(tail -n +2 out | cut -f1 | uniq | tr '\n' ' '), not $1"
}

powers() { # FROM TO: of two
    awk -v k="$1" -v most="$2" 'BEGIN { for (; k <= most; k *= 2) printf "%d ", k }'
}

check_reduce() { # RANKS LINKS
    head_is link scalars bytes us ranks
    numbers_from 2
    links_are "$2"
    for link in $2; do
        [ "$(column "$link" 2)" = "$(powers 1 1024)" ] ||
            complain "$label: $link: scalars $(column "$link" 2)"
        [ "$(column "$link" 3)" = "$(powers 8 8192)" ] ||
            complain "$label: $link: bytes $(column "$link" 3)"
    done
    [ "$(tail -n +2 out | cut -f5 | sort -u)" = "$1" ] || complain "$label: ranks"
}

# A link that has no memory for the largest says from where on, and goes on.
check_messages() { # LINKS
    head_is link bytes 'one way us' 'round trip us' 'GB/s one way'
    numbers_from 2
    links_are "$1"
    for link in $1; do
        most=$(sed -n "s/^tacit: warning: link $link: no messages of \([0-9]*\) bytes or more: .*/\1/p" err)
        most=$((${most:-134217728} / 2))
        [ "$(column "$link" 2)" = "$(powers 8 $most)" ] ||
            complain "$label: $link: bytes $(column "$link" 2), not to $most"
    done
    awk -F'\t' 'NR > 1 { r = $4 / $3; g = 1e-3 * $2 / $3 / $5; bad += r < 1.99 || \
        r > 2.01 || g < 0.99 || g > 1.01 } END { exit bad > 0 }' out ||
        complain "$label: one way is not half of the round trip, or not its GB/s"
}

check_matrix() { # LINKS
    head_is link vectors us messages bytes 'bytes of the largest rank' GB/s
    numbers_from 2
    links_are "$1"
    for link in $1; do
        [ "$(column "$link" 2)" = '1 2 ' ] || complain "$label: $link: vectors"
        column "$link" 5 | awk '{ exit $2 != 2 * $1 }' ||
            complain "$label: $link: two vectors are not twice the bytes"
    done
}

# one process
for comm in '' '--comm self'; do
    label="reduce $comm"
    # shellcheck disable=SC2086 # words
    accepted bench reduce $host $comm
    check_reduce 1 'self '
done
label='spmv'
accepted bench spmv poisson3d:8 $host
head_is format us Gflop/s 'GB/s as CSR' 'GB/s moved' 'copy GB/s' 'of copy' detail
has out 'csr	'
for what in exchange 'exchange poisson3d:4'; do
    # shellcheck disable=SC2086 # words
    run 1 bench $what
    [ $status = 1 ] || complain "bench $what on one process: status $status"
    has err 'one process exchanges nothing'
    [ -s out ] && complain "bench $what on one process: prints $(cat out)"
done
refused 1 'needs a MATRIX' bench spmv
refused 1 'needs no matrix' bench reduce poisson3d:4

# several: each link that there is between them, or the one that is asked for
[ -n "$MPIRUN" ] || finish
links=$("$TACIT" devices | sed -n '/	self	/d; /	peer	/d; /	nccl	/d; /	nvshmem	/d; s/^comm	\([a-z]*\)	yes	.*/\1/p' | tr '\n' ' ')
case " $links" in *' shm mpi '*) ;; *) complain "devices: links $links" ;; esac
for np in 2 3; do
    for comm in '' shm; do
        wanted=${comm:+--comm $comm}
        label="reduce $wanted on $np"
        # shellcheck disable=SC2086 # words
        run $np bench reduce $host $wanted
        [ $status = 0 ] || complain "$label: status $status"
        check_reduce $np "${comm:-${links% }} "
        label="exchange poisson3d:8 $wanted on $np"
        # shellcheck disable=SC2086 # words
        run $np bench exchange poisson3d:8 $host $wanted
        [ $status = 0 ] || complain "$label: status $status"
        check_matrix "${comm:-${links% }} "
    done
    [ $np = 2 ] || continue
    label="exchange on $np"
    # shellcheck disable=SC2086 # words
    run $np bench exchange $host
    [ $status = 0 ] || complain "$label: status $status"
    check_messages "$links"
done
for what in reduce exchange; do
    run 2 bench $what --comm self
    [ $status = 1 ] || complain "$what --comm self: status $status"
    [ -s out ] && complain "$what --comm self: prints $(cat out)"
    has err '--comm self is for one process'
    for link in nccl nvshmem; do
        run 2 bench $what --comm $link
        [ $status = 1 ] || complain "$what --comm $link: status $status"
        has err $link
    done
done
finish
