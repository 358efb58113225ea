#!/bin/sh
# rocetune-host.sh: reads, applies and verifies the RoCE settings of a server's NIC ports.
#
# The same file serves a push (over SSH), the undo timer and boot (systemd). It needs a POSIX shell, coreutils and
# the NIC's own tools; nothing else. Settings are lines "key=value":
#
#   port.IF.dcbx=os|fw            port.IF.pause=on|off          port.IF.mtu=BYTES
#   port.IF.trust=dscp|pcp        port.IF.cable_m=METRES
#   port.IF.dscp2prio.D=P         D is 0..63; "-" means that the entry is not shown, because trust is pcp or, with
#                                 dcb, because nobody added it: the firmware's own map counts
#   port.IF.ets.tsa=8 of ets,strict,vendor    port.IF.ets.bw=8 percents    port.IF.prio_tc=8 classes
#   port.IF.pfc=8 of 0,1          port.IF.storm_prevention_ms=MS
#   port.IF.roce_np.enable=8 of 0,1   port.IF.roce_rp.enable=8 of 0,1   port.IF.cnp_dscp=D   port.IF.cnp_prio=P
#   port.IF.dcqcn.NAME=N          port.IF.roce_mode=v1|v2       port.IF.roce_tos=N     port.IF.traffic_class=N
#   port.IF.persist=none|boot[,NAME...]   settings of this port are restored at boot (written on confirm only)
#   env.NAME=VALUE                a line of /etc/rocetune/roce.env; an empty value removes it
#
# Modes (see main): facts, read, inspect, counters, apply, verify, compare, install, uninstall,
# and of a transaction: ready, commit, run, undo, confirm, revert, pending.
# ROCETUNE_ROOT is prefixed to every path that is read or written, like DESTDIR.

# Settings live in variables whose names are made from validated keys (w_*, c_*, p_*), through eval.
# shellcheck disable=SC2154,SC2034
set -u
set -f
umask 022
LC_ALL=C
export LC_ALL
NL='
'
ROOT=${ROCETUNE_ROOT:-}
ETC=/etc/rocetune
RUN=/run/rocetune
LIB=/usr/local/lib/rocetune
UNITS=/etc/systemd/system
RULES=/etc/udev/rules.d
SETTINGS=$ETC/settings
ENVFILE=$ETC/roce.env
UNDO_UNIT=rocetune-undo

# ---------------------------------------------------------------- small tools

die() {
    printf '%s\n' "rocetune-host: $*" >&2
    exit 2
}

have() { command -v "$1" >/dev/null 2>&1; }

# slurp PATH: first line of a file into REPLY.
slurp() {
    REPLY=
    [ -r "$ROOT$1" ] && [ ! -d "$ROOT$1" ] || return 1
    { IFS= read -r REPLY || [ -n "$REPLY" ] || return 1; } 2>/dev/null <"$ROOT$1"
}

# Paths that may ever be written. Everything goes through put, so nothing outside this list can be touched.
writable() {
    case $1 in
    *..* | *[!A-Za-z0-9_./:@-]*) return 1 ;;
    /sys/class/net/*/mtu | /sys/class/net/*/ecn/*) return 0 ;;
    /sys/class/infiniband/*/tc/1/traffic_class) return 0 ;;
    /sys/kernel/debug/mlx5/*/cc_params/*) return 0 ;;
    /sys/kernel/config/rdma_cm/*) return 0 ;;
    "$ETC"/* | "$RUN"/* | "$LIB"/*) return 0 ;;
    esac
    case ${1%.new} in
    "$UNITS"/rocetune-qos@.service | "$UNITS"/rocetune-rdma@.service | "$RULES"/90-rocetune.rules) return 0 ;;
    esac
    return 1
}

# put PATH VALUE: the only writer. The reason of a failure is in REASON.
put() {
    REASON=
    if ! writable "$1"; then
        REASON="$1 is not a path this script may write"
        return 1
    fi
    { printf '%s\n' "$2" >"$ROOT$1"; } 2>/dev/null && return 0
    # Only a failure pays for a process that tells why.
    REASON=$({ printf '%s\n' "$2" >"$ROOT$1"; } 2>&1) && return 0
    REASON=${REASON##*: }
    REASON="write to $1: ${REASON:-failed}"
    return 1
}

# place PATH TEXT MODE: a regular file, replaced as a whole and only when it differs.
place() {
    if [ -f "$ROOT$1" ] && [ "$(cat "$ROOT$1")" = "$2" ]; then
        return 0
    fi
    [ -d "$ROOT${1%/*}" ] || mkdir -p "$ROOT${1%/*}" || return 1
    umask 022
    put "$1.new" "$2" && { [ "$3" = 0644 ] || chmod "$3" "$ROOT$1.new"; } && mv -f "$ROOT$1.new" "$ROOT$1"
}

number() {
    case $1 in
    '' | *[!0-9]*) return 1 ;;
    esac
    [ ${#1} -le 10 ] && [ "$1" -ge "$2" ] && [ "$1" -le "$3" ]
}

# eight VALUE TEST...: exactly eight comma separated items, each passing the test.
eight() {
    e_list=$1
    shift
    case $e_list in
    '' | *,,* | ,* | *, | *[!a-z0-9,]*) return 1 ;;
    esac
    e_old=$IFS
    IFS=,
    e_n=0
    for e_item in $e_list; do
        IFS=$e_old
        e_n=$((e_n + 1))
        "$@" "$e_item" || return 1
        IFS=,
    done
    IFS=$e_old
    [ "$e_n" -eq 8 ]
}

item_bit() { case $1 in 0 | 1) return 0 ;; esac; return 1; }
item_prio() { case $1 in [0-7]) return 0 ;; esac; return 1; }
item_tsa() { case $1 in ets | strict | vendor) return 0 ;; esac; return 1; }
item_percent() { number "$1" 0 100; }

netdev() {
    case $1 in
    '' | [!A-Za-z0-9]* | *[!A-Za-z0-9_-]*) return 1 ;;
    esac
    [ ${#1} -le 15 ]
}

token() {
    case $1 in
    '' | [!a-z]* | *[!A-Za-z0-9_.-]* | *..*) return 1 ;;
    esac
    [ ${#1} -le 80 ]
}

# nth LIST N: item N (from 0) of a comma list into REPLY.
nth() {
    n_old=$IFS
    IFS=,
    n_i=0
    REPLY=
    for n_item in $1; do
        [ "$n_i" -eq "$2" ] && REPLY=$n_item
        n_i=$((n_i + 1))
    done
    IFS=$n_old
}

# ---------------------------------------------------------------- settings

DCQCN='clamp_tgt_rate clamp_tgt_rate_after_time_inc rpg_time_reset rpg_byte_reset rpg_threshold rpg_ai_rate rpg_hai_rate
rpg_max_rate rpg_min_rate rpg_min_dec_fac rpg_gd dce_tcp_g dce_tcp_rtt rate_reduce_monitor_period initial_alpha_value
rate_to_set_on_first_cnp min_time_between_cnps'

dcqcn_name() {
    for d_name in $DCQCN; do
        [ "$d_name" = "$1" ] && return 0
    done
    return 1
}

persist_value() {
    case $1 in
    none | stale | boot) return 0 ;;
    boot,*)
        pv_old=$IFS
        IFS=,
        for pv in ${1#boot,}; do
            IFS=$pv_old
            dcqcn_name "$pv" || return 1
            IFS=,
        done
        IFS=$pv_old
        return 0
        ;;
    esac
    return 1
}

# valid KEY VALUE: a settings line is taken literally or not at all.
valid() {
    case $1 in
    # Most lines are map entries.
    port.*.dscp2prio.[0-9] | port.*.dscp2prio.[1-5][0-9] | port.*.dscp2prio.6[0-3])
        v_rest=${1#port.}
        netdev "${v_rest%%.*}" || return 1
        case ${v_rest#*.} in dscp2prio.[0-9] | dscp2prio.[0-9][0-9]) ;; *) return 1 ;; esac
        case $2 in - | [0-7]) return 0 ;; esac
        return 1
        ;;
    env.*)
        case ${1#env.} in '' | [!A-Z]* | *[!A-Z0-9_]*) return 1 ;; esac
        case $2 in *[!A-Za-z0-9_.,:/+-]*) return 1 ;; esac
        [ ${#2} -le 256 ]
        return
        ;;
    port.*.*) ;;
    *) return 1 ;;
    esac
    v_rest=${1#port.}
    netdev "${v_rest%%.*}" || return 1
    case ${v_rest#*.} in
    dcbx) case $2 in os | fw) return 0 ;; esac; return 1 ;;
    pause) case $2 in on | off) return 0 ;; esac; return 1 ;;
    trust) case $2 in dscp | pcp) return 0 ;; esac; return 1 ;;
    roce_mode) case $2 in v1 | v2) return 0 ;; esac; return 1 ;;
    mtu) number "$2" 68 65535 ;;
    cable_m) number "$2" 1 999 ;;
    dscp2prio.*) number "${v_rest##*.}" 0 63 && { [ "$2" = - ] || item_prio "$2"; } ;;
    ets.tsa) eight "$2" item_tsa ;;
    ets.bw) eight "$2" item_percent ;;
    prio_tc) eight "$2" item_prio ;;
    pfc | roce_np.enable | roce_rp.enable) eight "$2" item_bit ;;
    cnp_dscp) number "$2" 0 63 ;;
    cnp_prio) item_prio "$2" ;;
    storm_prevention_ms) [ "$2" = 0 ] || number "$2" 80 8000 ;;
    roce_tos) number "$2" 0 255 ;;
    traffic_class) [ "$2" = -1 ] || number "$2" 0 255 ;;
    dcqcn.*) dcqcn_name "${v_rest##*.}" && number "$2" 0 4294967295 ;;
    persist) persist_value "$2" ;;
    *) return 1 ;;
    esac
}

# check FILE: refuses the whole file when one line is wrong.
check() {
    [ -r "$1" ] || die "cannot read settings $1"
    k_n=0
    PORTS=
    ENVS=
    k_last=
    # dash reads files byte by byte, so a long one is taken in at once.
    k_text=$(cat "$1") || die "cannot read settings $1"
    k_old=$IFS
    IFS=$NL
    for k_line in $k_text; do
        IFS=$k_old
        k_n=$((k_n + 1))
        case $k_line in '#'*) continue ;; esac
        k_key=${k_line%%=*}
        if [ "$k_key" = "$k_line" ] || ! valid "$k_key" "${k_line#*=}"; then
            die "line $k_n of the settings is not valid"
        fi
        case $k_key in
        "$k_last".*) ;;
        env.*) ENVS=1 ;;
        *)
            k_key=${k_key#port.}
            k_key=${k_key%%.*}
            k_last=port.$k_key
            case " $PORTS " in *" $k_key "*) ;; *) PORTS="$PORTS $k_key" ;; esac
            ;;
        esac
    done
    IFS=$k_old
}

# vn KEY: the variable part for a key below its port.
vn() {
    case $1 in
    *.*) VN=${1%%.*}_${1#*.} ;;
    *) VN=$1 ;;
    esac
}

# load PREFIX FILE IF: settings of one port into PREFIX_* variables, names into PREFIX_keys. The text of the file is
# kept for the next port.
load() {
    eval "l_keys=\${$1_keys:-}"
    for l_key in $l_keys; do
        vn "$l_key"
        unset "$1_$VN"
    done
    l_keys=
    eval "l_file=\${$1_file:-} l_text=\${$1_text:-}"
    if [ "$l_file" != "$2" ]; then
        l_text=
        [ -r "$2" ] && l_text=$(cat "$2")
        eval "$1_file=\$2 $1_text=\$l_text"
    fi
    l_old=$IFS
    IFS=$NL
    for l_line in $l_text; do
        case $l_line in
        "port.$3."*)
            IFS=$l_old
            l_key=${l_line#port.*.}
            l_key=${l_key%%=*}
            valid "port.$3.$l_key" "${l_line#*=}" || continue
            vn "$l_key"
            eval "$1_$VN=\${l_line#*=}"
            l_keys="$l_keys $l_key"
            ;;
        esac
    done
    IFS=$l_old
    eval "$1_keys=\$l_keys"
}

# ---------------------------------------------------------------- observation

# slot IF: a number for an interface, because its name may not fit into a variable's.
slot() {
    SLOT=0
    for s_name in $SLOTS; do
        [ "$s_name" = "$1" ] && return
        SLOT=$((SLOT + 1))
    done
    SLOTS="$SLOTS $1"
}
SLOTS=

# recall KIND IF COMMAND...: what a reading tool says, into SAID; its status is the function's. A tool of a real NIC
# takes up to 0.2 s, so what was asked before in this shell is not asked again; writers forget it (see forget).
recall() {
    slot "$2"
    r_name=${1}_$SLOT
    eval "r_status=\${asked_$r_name-}"
    if [ -z "$r_status" ]; then
        shift 2
        SAID=$("$@" 2>&1 </dev/null)
        r_status=$?
        eval "asked_$r_name=\$r_status said_$r_name=\$SAID"
    else
        eval "SAID=\$said_$r_name"
    fi
    return "$r_status"
}

# forget IF: its next reading is a new one.
forget() {
    slot "$1"
    unset "asked_pause_$SLOT" "asked_storm_$SLOT" "asked_qos_$SLOT" "asked_all_$SLOT"
}

# retell KIND IF COMMAND...: the answer as it came.
retell() {
    recall "$@"
    r_status=$?
    printf '%s\n' "$SAID"
    return "$r_status"
}

# share IF...: what several modes of one call have in common is asked once, here.
share() {
    cma_open "$@"
    for s_if in "$@"; do
        recall storm "$s_if" ethtool --get-tunable "$s_if" pfc-prevention-tout
    done
}

cur() {
    vn "$1"
    eval "c_$VN=\$2"
    c_keys="$c_keys $1"
}

unknown() {
    vn "$1"
    eval "u_$VN=\$2"
    u_keys="$u_keys $1"
}

get() {
    vn "$1"
    eval "GOT=\${c_$VN-}"
}

# identify IF: DRIVER, BDF and RDMA device of a netdev.
identify() {
    DRIVER=
    BDF=
    RDMA=
    i_dev=/sys/class/net/$1/device
    if [ -r "$ROOT$i_dev/uevent" ]; then
        while IFS= read -r i_line; do
            case $i_line in
            DRIVER=*) DRIVER=${i_line#*=} ;;
            PCI_SLOT_NAME=*) BDF=${i_line#*=} ;;
            esac
        done <"$ROOT$i_dev/uevent"
    fi
    if [ -z "$DRIVER" ] && [ -e "$ROOT$i_dev/driver" ]; then
        DRIVER=$(readlink "$ROOT$i_dev/driver") && DRIVER=${DRIVER##*/}
    fi
    if [ -z "$BDF" ] && [ -e "$ROOT$i_dev" ]; then
        BDF=$(readlink "$ROOT$i_dev") && BDF=${BDF##*/}
    fi
    set +f
    for i_path in "$ROOT$i_dev/infiniband"/*; do
        [ -e "$i_path" ] && RDMA=${i_path##*/}
    done
    set -f
    case $RDMA in *[!A-Za-z0-9_-]*) RDMA= ;; esac
    case $BDF in *[!A-Fa-f0-9:.]*) BDF= ;; esac
}

# adapter IF: the NIC family, by driver. New families are added here and in the platform's table.
adapter() {
    identify "$1"
    case $DRIVER in
    mlx5_core) ADAPTER=nvidia_mlx5 ;;
    *) ADAPTER= ;;
    esac
    [ -n "$ADAPTER" ]
}

# observe IF: what NEED names of one port into c_* and u_*: pause, storm, tool (mlnx_qos or dcb), cc, rdma.
observe() {
    for o_key in ${c_keys:-}; do
        vn "$o_key"
        unset "c_$VN"
    done
    for o_key in ${u_keys:-}; do
        vn "$o_key"
        unset "u_$VN"
    done
    c_keys=
    u_keys=
    if [ ! -d "$ROOT/sys/class/net/$1" ]; then
        REASON="no such interface"
        return 1
    fi
    if ! adapter "$1"; then
        REASON="driver ${DRIVER:-unknown} is not supported"
        return 1
    fi
    slurp "/sys/class/net/$1/mtu" && cur mtu "$REPLY"
    case $NEED in *pause*) observe_pause "$1" ;; esac
    case $NEED in *storm*) observe_storm "$1" ;; esac
    case $NEED in *,tool,*) observe_tool "$1" ;; esac
    case $NEED in *cc*) observe_congestion "$1" ;; esac
    case $NEED in *rdma*) observe_rdma ;; esac
    return 0
}

EVERYTHING='pause storm ,tool, cc rdma'

# need KEY...: what must be observed for these settings. A port that is to be restored at boot needs everything; an
# undo does not look at it.
need() {
    NEED=
    for o_key in "$@"; do
        case $o_key$NEED in
        # The 64 entries need looking up once.
        dscp2prio.*,tool,*) continue ;;
        esac
        case $o_key in
        persist)
            [ -z "$BOOT" ] && transaction_open && continue
            NEED=$EVERYTHING
            return
            ;;
        mtu) continue ;;
        pause) o_group=pause ;;
        storm_prevention_ms) o_group=storm ;;
        roce_mode | roce_tos | traffic_class) o_group=rdma ;;
        dcbx | trust | dscp2prio.* | cable_m | ets.* | prio_tc | pfc) o_group=,tool, ;;
        *) o_group=cc ;;
        esac
        case $NEED in *"$o_group"*) ;; *) NEED="$NEED $o_group" ;; esac
    done
}

observe_tool() {
    m_count=0
    if have mlnx_qos; then
        observe_mlnx_qos "$1"
    elif have dcb; then
        observe_dcb "$1"
    else
        for o_key in dcbx trust cable_m ets.tsa ets.bw prio_tc pfc; do
            unknown "$o_key" "neither mlnx_qos nor dcb is installed"
        done
        return
    fi
    o_i=0
    while [ "$m_count" -lt 64 ] && [ "$o_i" -lt 64 ] && [ -n "${c_trust-}" ]; do
        eval "[ -n \"\${c_dscp2prio_$o_i-}\" ]" || cur "dscp2prio.$o_i" -
        o_i=$((o_i + 1))
    done
}

observe_pause() {
    p_rx=
    p_tx=
    if recall pause "$1" ethtool -a "$1"; then
        p_old=$IFS
        IFS=$NL
        for p_line in $SAID; do
            case $p_line in
            RX:*) p_rx=${p_line##*[!a-z]} ;;
            TX:*) p_tx=${p_line##*[!a-z]} ;;
            esac
        done
        IFS=$p_old
    fi
    case $p_rx$p_tx in
    offoff) cur pause off ;;
    on* | *on) cur pause on ;;
    *) unknown pause "ethtool -a gave no answer" ;;
    esac
}

observe_storm() {
    recall storm "$1" ethtool --get-tunable "$1" pfc-prevention-tout || SAID=
    p_out=${SAID##*[!0-9]}
    [ "$p_out" = 65535 ] && p_out=100
    if number "$p_out" 0 8000; then
        cur storm_prevention_ms "$p_out"
    else
        unknown storm_prevention_ms "the driver has no pfc-prevention-tout"
    fi
}

observe_mlnx_qos() {
    recall qos "$1" mlnx_qos -i "$1"
    q_status=$?
    case $SAID in
    # Without -a, classes that no priority uses are left out.
    *'tc: 0 '*'tc: 1 '*'tc: 2 '*'tc: 3 '*'tc: 4 '*'tc: 5 '*'tc: 6 '*'tc: 7 '*) ;;
    *'tc: '*)
        recall all "$1" mlnx_qos -i "$1" -a
        q_status=$?
        ;;
    esac
    if [ "$q_status" -ne 0 ]; then
        unknown pfc "mlnx_qos: ${SAID##*"$NL"}"
        return
    fi
    for q_i in 0 1 2 3 4 5 6 7; do
        unset "q_tsa_$q_i" "q_bw_$q_i" "q_prio_$q_i"
    done
    q_tc=
    q_old=$IFS
    IFS=$NL
    for q_line in $SAID; do
        IFS=$q_old
        # shellcheck disable=SC2086 # into words
        set -- $q_line
        mlnx_line "$@"
        IFS=$NL
    done
    IFS=$q_old
    mlnx_lists
}

# mlnx_line WORD...: one line of mlnx_qos.
mlnx_line() {
    case "${1-} ${2-}" in
    'DCBX mode:')
        case ${3-} in
        OS) cur dcbx os ;;
        Firmware) cur dcbx fw ;;
        esac
        ;;
    'Priority trust')
        case ${4-} in dscp | pcp) cur trust "$4" ;; esac
        ;;
    prio:[0-7]' 'dscp:*) mlnx_map "${1#prio:}" "${2#dscp:}" ;;
    'Cable len:') cur cable_m "${3-}" ;;
    enabled' '[01]) [ $# -lt 9 ] || cur pfc "$2,$3,$4,$5,$6,$7,$8,$9" ;;
    tc:' '[0-7])
        q_tc=$2
        q_tsa=${q_line##*tsa: }
        q_bw=0
        case $q_line in *bw:*) q_bw=${q_line##*bw: } ;; esac
        q_tsa=${q_tsa%%,*}
        q_tsa=${q_tsa%% *}
        q_bw=${q_bw%%[!0-9]*}
        eval "q_tsa_$q_tc=\$q_tsa q_bw_$q_tc=\$q_bw"
        ;;
    priority:' '[0-7]) [ -n "$q_tc" ] && eval "q_prio_$2=\$q_tc" ;;
    esac
}

# mlnx_map PRIO LIST: "31,30,29," into dscp2prio entries.
mlnx_map() {
    m_old=$IFS
    IFS=,
    for m_dscp in $2; do
        case $m_dscp in
        0[0-9]) m_dscp=${m_dscp#0} ;;
        [0-9] | [1-5][0-9] | 6[0-3]) ;;
        *) continue ;;
        esac
        eval "c_dscp2prio_$m_dscp=\$1"
        c_keys="$c_keys dscp2prio.$m_dscp"
        m_count=$((m_count + 1))
    done
    IFS=$m_old
}

mlnx_lists() {
    q_tsas=
    q_bws=
    q_prios=
    for q_i in 0 1 2 3 4 5 6 7; do
        eval "q_tsas=\$q_tsas,\${q_tsa_$q_i-vendor} q_bws=\$q_bws,\${q_bw_$q_i-0} q_prios=\$q_prios,\${q_prio_$q_i-x}"
    done
    if eight "${q_tsas#,}" item_tsa && eight "${q_bws#,}" item_percent && eight "${q_prios#,}" item_prio; then
        cur ets.tsa "${q_tsas#,}"
        cur ets.bw "${q_bws#,}"
        cur prio_tc "${q_prios#,}"
    else
        unknown ets.tsa "mlnx_qos lists no traffic classes"
    fi
}

# pairs TEXT WORD: the values of "WORD 0:a 1:b ..." as a comma list into REPLY.
pairs() {
    REPLY=
    while read -r r_word r_rest; do
        case $r_word in
        "$2")
            for r_pair in $r_rest; do
                case $r_pair in
                [0-9]*:*) REPLY="$REPLY,${r_pair#*:}" ;;
                *) break ;;
                esac
            done
            ;;
        esac
    done <<EOF
$1
EOF
    REPLY=${REPLY#,}
    [ -n "$REPLY" ]
}

observe_dcb() {
    if b_out=$(dcb dcbx show dev "$1" 2>&1); then
        case " $b_out " in
        *' host '*) cur dcbx os ;;
        *) cur dcbx fw ;;
        esac
    else
        unknown dcbx "dcb dcbx show failed"
    fi
    if b_out=$(dcb -N app show dev "$1" dscp-prio 2>&1); then
        b_trust=pcp
        for b_pair in $b_out; do
            case $b_pair in
            [0-9]*:[0-7])
                b_trust=dscp
                number "${b_pair%:*}" 0 63 && cur "dscp2prio.${b_pair%:*}" "${b_pair#*:}"
                ;;
            esac
        done
        cur trust "$b_trust"
    else
        unknown trust "dcb app show failed"
    fi
    if b_out=$(dcb pfc show dev "$1" 2>&1); then
        pairs "$b_out" prio-pfc && observe_dcb_pfc
        b_delay=${b_out##*delay }
        b_delay=${b_delay%%[!0-9]*}
        number "$b_delay" 0 65535 && cur cable_m "$b_delay"
    else
        unknown pfc "dcb pfc show failed"
    fi
    if b_out=$(dcb ets show dev "$1" 2>&1); then
        pairs "$b_out" tc-tsa && cur ets.tsa "$REPLY"
        pairs "$b_out" tc-bw && cur ets.bw "$REPLY"
        pairs "$b_out" prio-tc && cur prio_tc "$REPLY"
    else
        unknown ets.tsa "dcb ets show failed"
    fi
}

observe_dcb_pfc() {
    b_bits=
    b_old=$IFS
    IFS=,
    for b_state in $REPLY; do
        case $b_state in
        on) b_bits="$b_bits,1" ;;
        *) b_bits="$b_bits,0" ;;
        esac
    done
    IFS=$b_old
    cur pfc "${b_bits#,}"
}

# cc_path NAME: where a congestion-control attribute of INTERFACE is, into REPLY. OFED sysfs first, then debugfs.
cc_path() {
    case $2 in
    cnp_dscp | cnp_802p_prio | min_time_between_cnps) cc_role=roce_np ;;
    *) cc_role=roce_rp ;;
    esac
    for REPLY in "/sys/class/net/$1/ecn/$cc_role/$2" "/sys/class/net/$1/ecn/$cc_role/params/$2"; do
        [ -e "$ROOT$REPLY" ] && return 0
    done
    case $2 in
    cnp_802p_prio) cc_file=np_cnp_prio ;;
    cnp_dscp | min_time_between_cnps) cc_file=np_$2 ;;
    clamp_tgt_rate_after_time_inc) cc_file=rp_clamp_tgt_rate_ati ;;
    rpg_*) cc_file=rp_${2#rpg_} ;;
    *) cc_file=rp_$2 ;;
    esac
    REPLY=/sys/kernel/debug/mlx5/$BDF/cc_params/$cc_file
    [ -n "$BDF" ] && [ -e "$ROOT$REPLY" ]
}

observe_congestion() {
    for g_role in roce_np roce_rp; do
        g_list=
        for g_p in 0 1 2 3 4 5 6 7; do
            slurp "/sys/class/net/$1/ecn/$g_role/enable/$g_p" && g_list="$g_list,$REPLY"
        done
        if eight "${g_list#,}" item_bit; then
            cur "$g_role.enable" "${g_list#,}"
        else
            unknown "$g_role.enable" "no ecn/$g_role/enable: not an OFED or DOCA driver, or not a physical function"
        fi
    done
    for g_name in cnp_dscp cnp_802p_prio $DCQCN; do
        case $g_name in
        cnp_dscp) g_key=cnp_dscp ;;
        cnp_802p_prio) g_key=cnp_prio ;;
        *) g_key=dcqcn.$g_name ;;
        esac
        if cc_path "$1" "$g_name" && slurp "$REPLY" && number "$REPLY" 0 4294967295; then
            cur "$g_key" "$REPLY"
        else
            case $g_key in cnp_*) unknown "$g_key" "no congestion-control attribute in sysfs or debugfs" ;; esac
        fi
    done
}

observe_rdma() {
    if [ -z "$RDMA" ]; then
        for r_key in roce_mode roce_tos traffic_class; do
            unknown "$r_key" "the interface has no RDMA device"
        done
        return
    fi
    cma_read default_roce_tos cma_roce_tos
    if number "$REPLY" 0 255; then cur roce_tos "$REPLY"; else unknown roce_tos "rdma_cm configfs is not available"; fi
    cma_read default_roce_mode cma_roce_mode
    case $REPLY in
    *v2) cur roce_mode v2 ;;
    *v1) cur roce_mode v1 ;;
    *) unknown roce_mode "rdma_cm configfs is not available" ;;
    esac
    r_tc=/sys/class/infiniband/$RDMA/tc/1/traffic_class
    if [ ! -e "$ROOT$r_tc" ]; then
        unknown traffic_class "no tc/1/traffic_class: only OFED and DOCA drivers have it"
        return
    fi
    r_value=-1
    while IFS= read -r r_line || [ -n "$r_line" ]; do
        case $r_line in
        'Global tclass='*) r_value=${r_line#*=} ;;
        *[!0-9]* | '') ;;
        *) r_value=$r_line ;;
        esac
    done <"$ROOT$r_tc"
    cur traffic_class "$r_value"
}

# cma_open IF...: configfs shows rdma_cm's defaults only inside a directory made for the RDMA device. One mkdir makes
# those of all ports; NVIDIA's cma_roce_* scripts do the same once per port and value.
cma_open() {
    [ -d "$ROOT/sys/kernel/config/rdma_cm" ] || return 0
    m_list=$*
    set --
    for m_if in $m_list; do
        identify "$m_if"
        [ -z "$RDMA" ] || [ -e "$ROOT/sys/kernel/config/rdma_cm/$RDMA" ] ||
            set -- "$@" "$ROOT/sys/kernel/config/rdma_cm/$RDMA"
    done
    [ $# -gt 0 ] || return 0
    mkdir "$@" 2>/dev/null || :
    for m_path in "$@"; do
        [ -d "$m_path" ] && CMA_MADE="$CMA_MADE ${m_path##*/}"
    done
    return 0
}
CMA_MADE=

# cma_close: removes the directories that cma_open made; the values stay with the devices.
cma_close() {
    [ -n "$CMA_MADE" ] || return 0
    m_list=$CMA_MADE
    CMA_MADE=
    set --
    for m_path in $m_list; do
        set -- "$@" "$ROOT/sys/kernel/config/rdma_cm/$m_path"
    done
    rmdir "$@" 2>/dev/null || :
}

# cma_read FILE TOOL: an rdma_cm default of RDMA into REPLY; the tool knows how to mount configfs.
cma_read() {
    m_dir=/sys/kernel/config/rdma_cm/$RDMA
    slurp "$m_dir/ports/1/$1" && return
    if have "$2"; then
        REPLY=$("$2" -d "$RDMA" -p 1 2>/dev/null) || REPLY=
        return
    fi
    REPLY=
}

cma_write() {
    m_dir=/sys/kernel/config/rdma_cm/$RDMA
    if [ -e "$ROOT$m_dir/ports/1/$1" ]; then
        put "$m_dir/ports/1/$1" "$3"
        return
    fi
    # The tool knows how to load rdma_cm and mount configfs.
    if have "$2"; then
        case $1 in
        default_roce_tos) attempt "$2" -d "$RDMA" -p 1 -t "$3" ;;
        *) m_mode=1 && [ "$3" = 'RoCE v2' ] && m_mode=2
            attempt "$2" -d "$RDMA" -p 1 -m "$m_mode" ;;
        esac
        return
    fi
    REASON="rdma_cm configfs is not available: modprobe rdma_cm and mount configfs"
    return 1
}

# ---------------------------------------------------------------- printing

show_port() {
    if ! observe "$1"; then
        printf '# %s\n' "$1: $REASON"
        return
    fi
    s_out=
    for s_key in $c_keys; do
        get "$s_key"
        # The map was checked entry by entry.
        case $s_key in dscp2prio.*) ;; *) valid "port.$1.$s_key" "$GOT" || continue ;; esac
        s_out="${s_out}port.$1.$s_key=$GOT$NL"
    done
    for s_key in $u_keys; do
        vn "$s_key"
        eval "s_why=\$u_$VN"
        s_out="${s_out}port.$1.$s_key=?$NL# $s_why$NL"
    done
    persisted "$1"
    printf '%s' "${s_out}port.$1.persist=$REPLY$NL"
}

show_env() {
    [ -r "$ROOT$ENVFILE" ] || return 0
    while IFS= read -r e_line || [ -n "$e_line" ]; do
        case $e_line in
        [A-Z]*=*) valid "env.${e_line%%=*}" "${e_line#*=}" && printf '%s\n' "env.$e_line" ;;
        esac
    done <"$ROOT$ENVFILE"
}

mode_read() {
    await_apply
    if [ "${1:-}" = --file ]; then
        check "$2"
        # shellcheck disable=SC2086 # a list of validated names
        set -- $PORTS
    fi
    NEED=$EVERYTHING
    for IF in "$@"; do
        netdev "$IF" || die "'$IF' is not an interface name"
    done
    cma_open "$@"
    for IF in "$@"; do
        show_port "$IF"
    done
    cma_close
    show_env
}

# ---------------------------------------------------------------- persistence

installed() {
    [ -r "$ROOT$SETTINGS" ] && [ -r "$ROOT$LIB/rocetune-host.sh" ] && [ -r "$ROOT$RULES/90-rocetune.rules" ] &&
        [ -r "$ROOT$UNITS/rocetune-qos@.service" ] && [ -r "$ROOT$UNITS/rocetune-rdma@.service" ]
}

# await_apply: a read-back during a detached apply would show half of it.
await_apply() {
    set +f
    for t_dir in "$ROOT$RUN"/tx/*; do
        set -f
        t_left=600
        while [ -e "$t_dir/started" ] && [ ! -e "$t_dir/result" ] && [ "$t_left" -gt 0 ]; do
            t_left=$((t_left - 1))
            sleep 0.1 2>/dev/null || sleep 1
        done
    done
    set -f
}

transaction_open() {
    set +f
    for t_dir in "$ROOT$RUN"/tx/*; do
        if [ -d "$t_dir" ]; then
            set -f
            return 0
        fi
    done
    set -f
    return 1
}

# persisted IF: none, stale, or boot with the congestion parameters it restores, into REPLY. Needs observe first.
# A confirm that is still to come counts as done, so that a read-back can be compared; it lives in /run, so that a
# reboot before the confirm forgets it.
persisted() {
    slurp "$RUN/persist.$1" && return
    REPLY=none
    installed || return 0
    load p "$ROOT$SETTINGS" "$1"
    [ -n "$p_keys" ] || return 0
    REPLY=boot
    p_stale=
    for p_key in $DCQCN; do
        case " $p_keys " in *" dcqcn.$p_key "*) REPLY="$REPLY,$p_key" ;; esac
    done
    for p_key in $p_keys; do
        vn "$p_key"
        eval "[ \"\$p_$VN\" = \"\${c_$VN-}\" ]" || p_stale=1
    done
    [ -n "$p_stale" ] && ! transaction_open && REPLY=stale
    return 0
}

# set_persist IF VALUE: notes what the confirm shall make true.
set_persist() {
    [ ! -e "$ROOT$RUN/persist.$1" ] || rm -f "$ROOT$RUN/persist.$1"
    [ "$2" = stale ] && return 0
    persisted "$1"
    [ "$REPLY" = "$2" ] && return
    [ -d "$ROOT$RUN" ] || mkdir -p "$ROOT$RUN" || return 1
    put "$RUN/persist.$1" "$2"
}

# snapshot IF: the lines that restore this port at boot, from what was just applied and observed. Of the congestion
# parameters only those that the profile sets are kept: the others stay the firmware's.
snapshot() {
    persisted "$1"
    s_persist=$REPLY
    case $s_persist in none | stale) return ;; esac
    load p "$ROOT$SETTINGS" "$1"
    s_all=$p_keys
    [ -z "$p_keys" ] || [ -n "${w_persist-}" ] && s_all=$c_keys
    s_out=
    for s_key in $s_all; do
        case $s_key in
        dcqcn.*) case ",$s_persist," in *",${s_key#*.},"*) ;; *) continue ;; esac ;;
        esac
        vn "$s_key"
        eval "GOT=\${w_$VN:-\${c_$VN:-\${p_$VN-}}}"
        # An entry that was hidden by trust pcp is no longer what was observed: a change of trust filled the map.
        [ "$GOT.$RETRUSTED.${TOOL-}" = -.1.mlnx ] && continue
        valid "port.$1.$s_key" "$GOT" && s_out="${s_out}port.$1.$s_key=$GOT$NL"
    done
    printf '%s' "$s_out"
}

# persist BOOT: makes the boot settings those of the file BOOT for its ports, and keeps those of other ports.
persist() {
    f_new=
    check "$1"
    f_touched=$PORTS
    f_boot=$k_text
    PORTS=
    k_text=
    [ -r "$ROOT$SETTINGS" ] && check "$ROOT$SETTINGS"
    f_kept=
    for f_if in $PORTS; do
        case " $f_touched " in *" $f_if "*) continue ;; esac
        slurp "$RUN/persist.$f_if" && [ "$REPLY" = none ] && continue
        f_kept="$f_kept $f_if"
    done
    f_old=$IFS
    IFS=$NL
    if [ -n "$f_kept" ]; then
        for f_line in $k_text; do
            f_if=${f_line#port.}
            case " $f_kept " in *" ${f_if%%.*} "*) f_new="$f_new$NL$f_line" ;; esac
        done
    fi
    for f_line in $f_boot; do
        case $f_line in port.*) f_new="$f_new$NL$f_line" ;; esac
    done
    IFS=$f_old
    if [ -n "$f_new" ]; then
        place "$SETTINGS" "# Written by rocetune; restored at boot by rocetune-qos@ and rocetune-rdma@.$f_new" 0644 ||
            die "cannot write $SETTINGS"
        mode_install
    elif [ -e "$ROOT$SETTINGS" ]; then
        mode_uninstall
    fi
    set +f
    rm -f "$ROOT$RUN"/persist.*
    set -f
}

HERE=
case $0 in */*) HERE=${0%/*} ;; esac

# Nothing is done, and no manager told, where all is in place already.
mode_install() {
    set -- "$HERE/rocetune-host.sh" "$HERE/rocetune-qos@.service" "$HERE/rocetune-rdma@.service" "$HERE/90-rocetune.rules"
    i_new=$(cat "$@") || die "cannot read the boot units in $HERE"
    set -- "$ROOT$LIB/rocetune-host.sh" "$ROOT$UNITS/rocetune-qos@.service" "$ROOT$UNITS/rocetune-rdma@.service" \
        "$ROOT$RULES/90-rocetune.rules"
    installed && [ "$(cat "$@")" = "$i_new" ] && return
    place "$LIB/rocetune-host.sh" "$(cat "$HERE/rocetune-host.sh")" 0755 &&
        place "$UNITS/rocetune-qos@.service" "$(cat "$HERE/rocetune-qos@.service")" 0644 &&
        place "$UNITS/rocetune-rdma@.service" "$(cat "$HERE/rocetune-rdma@.service")" 0644 &&
        place "$RULES/90-rocetune.rules" "$(cat "$HERE/90-rocetune.rules")" 0644 && reload_units && return
    die "cannot install the boot units"
}

mode_uninstall() {
    rm -f "$ROOT$SETTINGS" "$ROOT$RULES/90-rocetune.rules" \
        "$ROOT$UNITS/rocetune-qos@.service" "$ROOT$UNITS/rocetune-rdma@.service" "$ROOT$LIB/rocetune-host.sh"
    rmdir "$ROOT$LIB" "$ROOT$ETC" 2>/dev/null
    reload_units
}

reload_units() {
    have systemctl && systemctl daemon-reload >/dev/null 2>&1
    have udevadm && udevadm control --reload >/dev/null 2>&1
    return 0
}

# ---------------------------------------------------------------- apply

# phase_of KEY: qos exists with the netdev, rdma with the RDMA device.
in_phase() {
    case $2 in all) return 0 ;; esac
    case $1 in
    dcbx | pause | mtu | trust | dscp2prio.* | cable_m | ets.* | prio_tc | pfc | storm_prevention_ms) [ "$2" = qos ] ;;
    persist) return 1 ;;
    *) [ "$2" = rdma ] ;;
    esac
}

# attempt COMMAND...: the tool's last line becomes the REASON of a failure; a traceback is one whatever the status.
attempt() {
    REASON=$("$@" 2>&1 </dev/null)
    a_status=$?
    case $REASON in *'Traceback (most recent'*) a_status=1 ;; esac
    REASON=${REASON##*"$NL"}
    [ "$a_status" -eq 0 ] && return 0
    REASON="$1: ${REASON:-exit status $a_status}"
    return 1
}

# wants KEY: true when a setting is asked for in this phase and not there yet; W is what it shall be.
wants() {
    [ "$PHASE" = all ] || in_phase "$1" "$PHASE" || return 1
    vn "$1"
    eval "W=\${w_$VN-} C=\${c_$VN-}"
    [ -n "$W" ] && [ "$W" != "$C" ]
}

# step KEYS COMMAND...: one write for one or more keys; a transaction stops at the first failure, boot and undo go on.
step() {
    st_keys=$1
    shift
    if [ -n "$STOP" ] && [ -n "$BROKEN" ]; then
        return 1
    fi
    "$@" && return 0
    BROKEN=1
    for st_key in $st_keys; do
        vn "$st_key"
        eval "why_$VN=\$REASON"
        WHYS="$WHYS $VN"
    done
    return 1
}

unsupported() {
    REASON=$1
    return 1
}

# Tool choice, once per port: mlnx_qos knows more, dcb is what inbox hosts have.
qos_tool() {
    if have mlnx_qos; then TOOL=mlnx; elif have dcb; then TOOL=dcb; else TOOL=none; fi
}

# indexed LIST: "0:a 1:b ..." from "a,b,..." into REPLY.
indexed() {
    x_i=0
    x_out=
    x_old=$IFS
    IFS=,
    for x_item in $1; do
        x_out="$x_out $x_i:$x_item"
        x_i=$((x_i + 1))
    done
    IFS=$x_old
    REPLY=$x_out
}

# write_ownership IF: DCBX owner, trust and cable length. mlnx_qos takes them in one call, in this order.
write_ownership() {
    o_keys=
    o_args=
    RETRUSTED=
    for o_key in dcbx trust cable_m; do
        wants "$o_key" || continue
        case $o_key.$TOOL.$W in
        dcbx.mlnx.*) o_args="$o_args -d $W" ;;
        trust.mlnx.*) o_args="$o_args --trust $W" ;;
        cable_m.mlnx.*) o_args="$o_args --cable_len $W" ;;
        dcbx.dcb.os) step dcbx attempt dcb dcbx set dev "$1" host ieee ;;
        dcbx.dcb.*) step dcbx unsupported "dcb cannot give DCBX back to the firmware: mlnx_qos -i $1 -d fw can" ;;
        trust.dcb.pcp) step trust attempt dcb app flush dev "$1" dscp-prio ;;
        # Trust follows the first DSCP entry, which write_tables adds.
        trust.dcb.dscp) ;;
        cable_m.dcb.*) step cable_m attempt dcb pfc set dev "$1" delay "$W" ;;
        *) step "$o_key" unsupported "neither mlnx_qos nor dcb is installed" ;;
        esac
        o_keys="$o_keys $o_key"
        [ "$o_key" = trust ] && RETRUSTED=1
    done
    # shellcheck disable=SC2086 # words from validated settings
    [ -z "$o_args" ] || step "$o_keys" attempt mlnx_qos -i "$1" $o_args
}

# write_tables IF: the DSCP entries that differ (all of them after a change of trust, which rewrites the map) and the
# three lists of the scheduler, which go together because the driver checks them together. mlnx_qos takes both in one
# call, in this order.
write_tables() {
    z_args=
    z_keys=
    case ${w_trust:-${c_trust-}} in
    dscp) map_wanted "$1" ;;
    esac
    t_any=
    for t_key in ets.tsa ets.bw prio_tc; do
        wants "$t_key" && t_any="$t_any $t_key"
    done
    [ -n "$z_args$t_any" ] || return 0
    t_tsa=${w_ets_tsa:-${c_ets_tsa-}}
    t_bw=${w_ets_bw:-${c_ets_bw-}}
    t_prio=${w_prio_tc:-${c_prio_tc-}}
    # shellcheck disable=SC2086 # numbers and lists from validated settings
    case $TOOL in
    mlnx)
        [ -z "$t_any" ] || z_args="$z_args -p $t_prio -s $t_tsa -t $t_bw"
        step "$z_keys$t_any" attempt mlnx_qos -i "$1" $z_args
        ;;
    dcb)
        [ -z "$z_args" ] || step "$z_keys" attempt dcb app replace dev "$1" dscp-prio $z_args
        [ -n "$t_any" ] || return 0
        indexed "$t_prio"
        t_prio=$REPLY
        indexed "$t_tsa"
        t_tsa=$REPLY
        indexed "$t_bw"
        step "$t_any" attempt dcb ets set dev "$1" prio-tc $t_prio tc-tsa $t_tsa tc-bw $REPLY
        ;;
    *) step "$z_keys$t_any" unsupported "neither mlnx_qos nor dcb is installed" ;;
    esac
}

# map_wanted IF: arguments for the DSCP entries into z_args, their keys into z_keys.
map_wanted() {
    for z_key in $w_keys; do
        case $z_key in dscp2prio.*) ;; *) continue ;; esac
        [ "$PHASE" = all ] || in_phase "$z_key" "$PHASE" || continue
        eval "W=\${w_dscp2prio_${z_key#*.}-} C=\${c_dscp2prio_${z_key#*.}-}"
        [ -n "$W" ] || continue
        [ -z "$RETRUSTED" ] && [ "$W" = "$C" ] && continue
        if [ "$W" = - ]; then
            # mlnx_qos cannot forget an entry; dcb can, and the firmware then maps that DSCP to 0.
            [ "$TOOL.${C:--}" = dcb.- ] || [ "$TOOL" = mlnx ] && continue
            step "$z_key" attempt dcb app del dev "$1" dscp-prio "${z_key#*.}:$C"
            continue
        fi
        z_keys="$z_keys $z_key"
        case $TOOL in
        mlnx) z_args="$z_args --dscp2prio set,${z_key#*.},$W" ;;
        *) z_args="$z_args ${z_key#*.}:$W" ;;
        esac
    done
}

write_pfc() {
    case $TOOL in
    mlnx) attempt mlnx_qos -i "$1" --pfc "$2" ;;
    dcb)
        f_bits=
        f_p=0
        while [ "$f_p" -lt 8 ]; do
            nth "$2" "$f_p"
            case $REPLY in
            1) f_bits="$f_bits $f_p:on" ;;
            *) f_bits="$f_bits $f_p:off" ;;
            esac
            f_p=$((f_p + 1))
        done
        # shellcheck disable=SC2086 # eight words made above
        attempt dcb pfc set dev "$1" prio-pfc $f_bits
        ;;
    *) unsupported "neither mlnx_qos nor dcb is installed" ;;
    esac
}

# write_roles IF ROLE LIST CURRENT: enable files of the priorities that differ.
write_roles() {
    w_list=$3,
    w_had=$4,
    for w_p in 0 1 2 3 4 5 6 7; do
        w_new=${w_list%%,*}
        w_list=${w_list#*,}
        w_old=${w_had%%,*}
        w_had=${w_had#*,}
        [ "$w_new" = "$w_old" ] && continue
        if [ ! -e "$ROOT/sys/class/net/$1/ecn/$2/enable/$w_p" ]; then
            unsupported "no ecn/$2/enable: not an OFED or DOCA driver"
            return
        fi
        put "/sys/class/net/$1/ecn/$2/enable/$w_p" "$w_new" || return 1
    done
}

write_cc() {
    cc_path "$1" "$2" || unsupported "no $2 in sysfs or debugfs" || return 1
    put "$REPLY" "$3"
}

write_congestion() {
    for h_role in roce_np roce_rp; do
        wants "$h_role.enable" && step "$h_role.enable" write_roles "$1" "$h_role" "$W" "$C"
    done
    wants cnp_dscp && step cnp_dscp write_cc "$1" cnp_dscp "$W"
    wants cnp_prio && step cnp_prio write_cc "$1" cnp_802p_prio "$W"
    for h_name in $DCQCN; do
        wants "dcqcn.$h_name" && step "dcqcn.$h_name" write_cc "$1" "$h_name" "$W"
    done
}

write_marking() {
    if wants roce_mode; then
        h_mode='IB/RoCE v1'
        [ "$W" = v2 ] && h_mode='RoCE v2'
        step roce_mode cma_write default_roce_mode cma_roce_mode "$h_mode"
    fi
    wants roce_tos && step roce_tos cma_write default_roce_tos cma_roce_tos "$W"
    if wants traffic_class; then
        if [ -e "$ROOT/sys/class/infiniband/$RDMA/tc/1/traffic_class" ]; then
            step traffic_class put "/sys/class/infiniband/$RDMA/tc/1/traffic_class" "$W"
        else
            step traffic_class unsupported "no tc/1/traffic_class: only OFED and DOCA drivers have it"
        fi
    fi
}

# write_port IF: every write in the order that avoids surprises; the PFC bitmap is last of the qos half, because a
# changed bitmap makes the driver take the link down and up.
write_port() {
    qos_tool
    wants pause && step pause attempt ethtool -A "$1" rx "$W" tx "$W"
    wants mtu && step mtu put "/sys/class/net/$1/mtu" "$W"
    write_ownership "$1"
    write_tables "$1"
    wants storm_prevention_ms &&
        step storm_prevention_ms attempt ethtool --set-tunable "$1" pfc-prevention-tout "$W"
    write_congestion "$1"
    wants pfc && step pfc write_pfc "$1" "$W"
    write_marking
}

# apply_port IF FILE: compare, write what differs, read that again, report. The writes of a transaction (STOP) are read
# back by who started it, with everything else, while the undo timer runs.
apply_port() {
    load w "$2" "$1"
    # shellcheck disable=SC2086 # validated names
    need $w_keys
    if ! observe "$1"; then
        printf '%s\n' "failed port.$1 $REASON"
        FAILED=1
        return
    fi
    y_diff=
    y_changed=
    y_same=0
    RETRUSTED=
    for y_key in $w_keys; do
        [ "$y_key" = persist ] && continue
        [ "$PHASE" = all ] || in_phase "$y_key" "$PHASE" || continue
        if wants "$y_key"; then
            y_diff="$y_diff$y_key=${C:-?}$NL"
            y_changed="$y_changed $y_key"
        else
            y_same=$((y_same + 1))
        fi
    done
    if [ -n "$y_diff" ]; then
        if [ "$WRITE" = 1 ]; then
            write_port "$1"
            if [ -z "$STOP" ]; then
                forget "$1"
                # shellcheck disable=SC2086 # validated names
                [ -n "${w_persist-}" ] || need $y_changed
                observe "$1" || FAILED=1
            fi
        fi
        if [ "$WRITE.$STOP.$BROKEN" = 1.1. ]; then
            printf '%s\n' "wrote port.$1$y_changed"
        else
            report "$1"
        fi
    fi
    if in_phase persist "$PHASE" && [ -n "${w_persist-}" ]; then
        apply_persist "$1"
    fi
    [ -n "$BOOT" ] && [ -z "$FAILED" ] && snapshot "$1" >>"$ROOT$BOOT"
    printf '%s\n' "ok port.$1 $y_same"
}

report() {
    while IFS='=' read -r y_key y_old; do
        [ -n "$y_key" ] || continue
        vn "$y_key"
        eval "y_new=\${c_$VN-} y_want=\${w_$VN-} y_why=\${why_$VN-}"
        if [ "$WRITE" = 0 ]; then
            printf '%s\n' "differs port.$1.$y_key $y_old $y_want"
        elif [ "$y_new" = "$y_want" ]; then
            printf '%s\n' "changed port.$1.$y_key $y_old $y_new"
        else
            printf '%s\n' "failed port.$1.$y_key ${y_why:-is ${y_new:-unknown}, not $y_want}"
            FAILED=1
        fi
    done <<EOF
$y_diff
EOF
    for y_key in $WHYS; do
        unset "why_$y_key"
    done
    WHYS=
}

apply_persist() {
    persisted "$1"
    [ "$REPLY" = "$w_persist" ] && return
    if [ "$WRITE" = 0 ]; then
        printf '%s\n' "differs port.$1.persist $REPLY $w_persist"
        return
    fi
    y_old=$REPLY
    if set_persist "$1" "$w_persist"; then
        printf '%s\n' "changed port.$1.persist $y_old $w_persist"
    else
        printf '%s\n' "failed port.$1.persist $REASON"
        FAILED=1
    fi
}

ENV_HEADER='# Written by rocetune: the variables that put RDMA applications into the lossless class of this server.
# Source it (set -a; . /etc/rocetune/roce.env; set +a), or name it in a unit (EnvironmentFile=/etc/rocetune/roce.env).
# NCCL_IB_GID_INDEX is left out on purpose: since NCCL 2.21 the index is chosen by address, and a fixed one breaks
# where indexes differ between hosts or containers.'

# apply_env FILE: merges env.* lines into the environment file.
apply_env() {
    n_have=$(show_env)
    n_want=
    while IFS= read -r n_line || [ -n "$n_line" ]; do
        case $n_line in env.*) ;; *) continue ;; esac
        n_key=${n_line%%=*}
        n_old=
        n_rest=
        while IFS= read -r n_item; do
            case $n_item in
            "$n_key="*) n_old=${n_item#*=} ;;
            '') ;;
            *) n_rest=$n_rest$n_item$NL ;;
            esac
        done <<EOF
$n_have
EOF
        [ "$n_old" = "${n_line#*=}" ] && continue
        [ "$n_line" = "$n_key=" ] || n_rest=$n_rest$n_line
        n_have=$n_rest
        n_want="$n_want$n_key ${n_old:--} ${n_line#*=}$NL"
    done <"$1"
    [ -n "$n_want" ] || return 0
    n_word=differs
    if [ "$WRITE" = 1 ]; then
        n_word=changed
        n_body=$(printf '%s\n' "$n_have" | sed -n 's/^env\.//p' | sort)
        if [ -z "$n_body" ]; then
            rm -f "$ROOT$ENVFILE" && rmdir "$ROOT$ETC" 2>/dev/null
        elif ! place "$ENVFILE" "$ENV_HEADER$NL$n_body" 0644; then
            n_word=failed
            FAILED=1
        fi
    fi
    while IFS= read -r n_line; do
        [ -n "$n_line" ] && printf '%s\n' "$n_word $n_line"
    done <<EOF
$n_want
EOF
}

# apply_file FILE [INTERFACE]: status 1 when anything failed.
apply_file() {
    FAILED=
    BROKEN=
    WHYS=
    check "$1"
    # shellcheck disable=SC2086 # validated names
    cma_open ${2:-$PORTS}
    for IF in ${2:-$PORTS}; do
        if [ -n "$STOP" ] && [ -n "$BROKEN" ]; then
            printf '%s\n' "failed port.$IF not attempted after an earlier failure"
            continue
        fi
        apply_port "$IF" "$1"
    done
    cma_close
    if [ "$PHASE" = all ] && [ -n "$ENVS" ]; then
        apply_env "$1"
    fi
    [ -z "$FAILED" ]
}

# mode_apply FILE [--phase qos|rdma|all] [--interface IF] [--wait SECONDS]
mode_apply() {
    u_file=$1
    u_if=
    u_wait=0
    shift
    while [ $# -gt 0 ]; do
        [ $# -gt 1 ] || die "$1 needs a value"
        case $1 in
        --phase) case $2 in qos | rdma | all) PHASE=$2 ;; *) die "no phase '$2'" ;; esac ;;
        --interface) netdev "$2" || die "'$2' is not an interface name"; u_if=$2 ;;
        --wait) number "$2" 0 3600 || die "'$2' is not a number of seconds"; u_wait=$2 ;;
        *) die "unknown option $1" ;;
        esac
        shift 2
    done
    # A port that is not in the settings is not ours: nothing to do.
    if [ -n "$u_if" ]; then
        check "$u_file"
        case " $PORTS " in *" $u_if "*) ;; *) return 0 ;; esac
        while [ "$u_wait" -gt 0 ] && [ ! -d "$ROOT/sys/class/net/$u_if/device/infiniband" ]; do
            sleep 1
            u_wait=$((u_wait - 1))
        done
    fi
    alone
    apply_file "$u_file" "$u_if"
}

# ---------------------------------------------------------------- facts and inspection

# tell PATH: "PATH: value" of a readable file; the line is the doctor's evidence.
tell() {
    slurp "$1" && printf '%s: %s\n' "$1" "$REPLY"
}

mode_facts() {
    slurp /proc/sys/kernel/osrelease || REPLY=$(uname -r)
    printf 'host.kernel=%s\n' "$REPLY"
    slurp /proc/sys/kernel/hostname || REPLY=$(uname -n)
    printf 'host.name=%s\n' "$REPLY"
    for a_tool in mlnx_qos dcb ethtool ibv_devinfo cma_roce_tos systemd-run mlxconfig; do
        if have "$a_tool"; then printf 'tool.%s=yes\n' "$a_tool"; else printf 'tool.%s=no\n' "$a_tool"; fi
    done
    set +f
    for a_path in "$ROOT"/sys/class/net/*; do
        set -f
        a_if=${a_path##*/}
        netdev "$a_if" && [ -e "$a_path/device" ] && facts_port "$a_if"
    done
    set -f
}

facts_port() {
    adapter "$1"
    printf 'net.%s.driver=%s\nnet.%s.pci=%s\n' "$1" "$DRIVER" "$1" "$BDF"
    [ -n "$ADAPTER" ] && printf 'net.%s.adapter=%s\n' "$1" "$ADAPTER"
    [ -n "$RDMA" ] && printf 'net.%s.rdma=%s\n' "$1" "$RDMA"
    for a_name in address speed operstate mtu; do
        slurp "/sys/class/net/$1/$a_name" && printf 'net.%s.%s=%s\n' "$1" "$a_name" "$REPLY"
    done
    [ -n "$ADAPTER" ] || return 0
    slurp "/sys/class/net/$1/device/vendor" && a_id=$REPLY &&
        slurp "/sys/class/net/$1/device/device" && printf 'net.%s.pci_id=%s:%s\n' "$1" "$a_id" "$REPLY"
    if [ -e "$ROOT/sys/class/net/$1/ecn/roce_np/enable" ]; then printf 'net.%s.has=ecn_enable\n' "$1"; fi
    if cc_path "$1" cnp_dscp; then printf 'net.%s.has=cc_params\n' "$1"; fi
    if [ -n "$RDMA" ] && [ -e "$ROOT/sys/class/infiniband/$RDMA/tc/1/traffic_class" ]; then
        printf 'net.%s.has=traffic_class\n' "$1"
    fi
    # dcb can take DCBX from the firmware but not give it back, so the plan must know who has it.
    if ! have mlnx_qos && have dcb && a_out=$(dcb dcbx show dev "$1" 2>/dev/null); then
        case " $a_out " in *' host '*) printf 'net.%s.has=dcbx\n' "$1" ;; esac
    fi
    have mlnx_qos && printf 'net.%s.has=dcbx\n' "$1"
    if ethtool --get-tunable "$1" pfc-prevention-tout >/dev/null 2>&1; then
        printf 'net.%s.has=storm_prevention\n' "$1"
    fi
}

mode_inspect() {
    for IF in "$@"; do
        netdev "$IF" || die "'$IF' is not an interface name"
    done
    cma_open "$@"
    for IF in "$@"; do
        identify "$IF"
        inspect_netdev "$IF"
        [ -n "$RDMA" ] && inspect_rdma "$RDMA"
        inspect_counters
    done
    cma_close
    inspect_files
}

inspect_netdev() {
    for j_name in operstate carrier mtu speed device/current_link_speed device/max_link_speed \
        device/current_link_width device/max_link_width device/numa_node; do
        tell "/sys/class/net/$1/$j_name"
    done
    for j_role in roce_np roce_rp; do
        for j_p in 0 1 2 3 4 5 6 7; do
            tell "/sys/class/net/$1/ecn/$j_role/enable/$j_p"
        done
    done
    for j_name in cnp_dscp cnp_802p_prio $DCQCN; do
        cc_path "$1" "$j_name" && tell "$REPLY"
    done
    recall storm "$1" ethtool --get-tunable "$1" pfc-prevention-tout &&
        printf 'ethtool --get-tunable %s pfc-prevention-tout: %s\n' "$1" "${SAID##*[!0-9]}"
}

inspect_rdma() {
    cma_read default_roce_tos cma_roce_tos
    [ -n "$REPLY" ] && printf '/sys/kernel/config/rdma_cm/%s/ports/1/default_roce_tos: %s\n' "$1" "$REPLY"
    cma_read default_roce_mode cma_roce_mode
    [ -n "$REPLY" ] && printf '/sys/kernel/config/rdma_cm/%s/ports/1/default_roce_mode: %s\n' "$1" "$REPLY"
    j_tc=/sys/class/infiniband/$1/tc/1/traffic_class
    if [ -r "$ROOT$j_tc" ]; then
        printf '%s:' "$j_tc"
        while IFS= read -r j_line || [ -n "$j_line" ]; do
            printf ' %s' "$j_line"
        done <"$ROOT$j_tc"
        printf '\n'
    fi
    tell "/sys/class/infiniband/$1/ports/1/state"
    j_i=0
    while [ "$j_i" -lt 16 ] && slurp "/sys/class/infiniband/$1/ports/1/gids/$j_i"; do
        case $REPLY in
        0000:0000:0000:0000:0000:0000:0000:0000) ;;
        *)
            printf '/sys/class/infiniband/%s/ports/1/gids/%s: %s\n' "$1" "$j_i" "$REPLY"
            tell "/sys/class/infiniband/$1/ports/1/gid_attrs/types/$j_i"
            ;;
        esac
        j_i=$((j_i + 1))
    done
}

inspect_counters() {
    [ -n "$RDMA" ] || return 0
    set +f
    for j_path in "$ROOT/sys/class/infiniband/$RDMA/ports/1/hw_counters"/*; do
        set -f
        tell "${j_path#"$ROOT"}"
    done
    set -f
}

inspect_files() {
    for j_file in /etc/nccl.conf "$ENVFILE" "$SETTINGS"; do
        [ -r "$ROOT$j_file" ] || continue
        printf '%s:\n' "$j_file"
        while IFS= read -r j_line || [ -n "$j_line" ]; do
            printf '%s: %s\n' "$j_file" "$j_line"
        done <"$ROOT$j_file"
    done
    if installed; then printf 'boot units: installed\n'; else printf 'boot units: absent\n'; fi
    printf 'systemctl is-active lldpad: %s\n' "$(systemctl is-active lldpad 2>/dev/null)"
}

mode_counters() {
    for IF in "$@"; do
        netdev "$IF" || die "'$IF' is not an interface name"
        identify "$IF"
        inspect_counters
    done
}

# ---------------------------------------------------------------- transaction

# lock: one writer at a time; a lock whose owner is gone is taken over. Released at exit.
lock() {
    lk_left=1200
    while ! mkdir "$ROOT$RUN/lock" 2>/dev/null; do
        lk_pid=
        slurp "$RUN/lock/pid" && lk_pid=$REPLY
        if number "$lk_pid" 1 9999999 && ! kill -0 "$lk_pid" 2>/dev/null; then
            rm -rf "$ROOT$RUN/lock"
            continue
        fi
        lk_left=$((lk_left - 1))
        [ "$lk_left" -gt 0 ] || return 1
        sleep 0.1 2>/dev/null || sleep 1
    done
    put "$RUN/lock/pid" "$$"
    trap 'rm -rf "$ROOT$RUN/lock"' EXIT
    trap 'exit 2' HUP INT TERM
}

alone() {
    [ -d "$ROOT$RUN" ] || mkdir -p "$ROOT$RUN" || die "cannot write to $RUN"
    lock || die "another rocetune-host.sh is writing"
}

active() { [ "$(systemctl is-active "$1" 2>/dev/null)" = active ]; }

# armed: OWNER and LEFT (seconds) of the undo timer, when it waits or its service has started and not ended.
armed() {
    OWNER=
    LEFT=0
    case $(systemctl is-active "$UNDO_UNIT.timer" "$UNDO_UNIT.service" 2>/dev/null) in
    active* | *"$NL"active | *"$NL"activating) ;;
    *) return 1 ;;
    esac
    OWNER=unknown
    if slurp "$RUN/armed"; then
        OWNER=${REPLY%% *}
        LEFT=$((${REPLY##* } - $(date +%s)))
        [ "$LEFT" -gt 0 ] || LEFT=1
    fi
    return 0
}

mode_ready() {
    for a_tool in ethtool systemd-run systemctl; do
        have "$a_tool" || printf '%s\n' "$a_tool is not installed"
    done
    have mlnx_qos || have dcb || printf '%s\n' "neither mlnx_qos (mlnx-tools) nor dcb (iproute2) is installed: install one"
    if ! mkdir -p "$ROOT$RUN" 2>/dev/null || [ ! -w "$ROOT$RUN" ]; then
        printf '%s\n' "cannot write to $RUN: log in as root or allow 'sudo -n sh' for this user"
    fi
    if armed; then
        printf '%s\n' "an undo timer of $OWNER runs and fires in $LEFT s: wait for it, or run 'rocetune apply --resume'"
    fi
    case $(systemctl is-active lldpad 2>/dev/null) in
    active) printf '%s\n' "lldpad is running and would overwrite the settings: systemctl disable --now lldpad.service lldpad.socket" ;;
    esac
    set +f
    for a_path in "$ROOT"/proc/[0-9]*/comm; do
        slurp "${a_path#"$ROOT"}"
        case $REPLY in
        nic-configurati*)
            printf '%s\n' "nic-configuration-operator manages the NICs of this server: take the server out of it, or do not manage it here"
            break
            ;;
        esac
    done
    set -f
}

tx() {
    token "${1:-}" || die "'${1:-}' is not a transaction name"
    TX=$RUN/tx/$1
}

# mode_commit TOKEN SECONDS: arms the undo, then starts the apply detached and waits for its result.
mode_commit() {
    tx "$1"
    number "$2" 1 86400 || die "'$2' is not a number of seconds"
    [ -r "$ROOT$TX/do" ] || die "nothing is staged for $1"
    if armed; then
        die "an undo timer of $OWNER runs and fires in $LEFT s"
    fi
    systemctl reset-failed "$UNDO_UNIT.service" rocetune-apply.service >/dev/null 2>&1
    put "$RUN/armed" "$1 $(($(date +%s) + $2))" || die "$REASON"
    if ! attempt systemd-run "--on-active=${2}s" --timer-property=AccuracySec=1s --collect "--unit=$UNDO_UNIT" \
        /bin/sh "$ROOT$TX/rocetune-host.sh" undo "$1"; then
        rm -f "$ROOT$RUN/armed"
        die "the undo could not be armed, nothing was changed: $REASON"
    fi
    put "$TX/started" 1
    # A PFC change may cut this very session, so the apply must not depend on it.
    if ! attempt systemd-run --collect --unit=rocetune-apply /bin/sh "$ROOT$TX/rocetune-host.sh" run "$1"; then
        setsid /bin/sh "$ROOT$TX/rocetune-host.sh" run "$1" </dev/null >/dev/null 2>&1 &
    fi
    mode_result "$1"
}

# mode_result TOKEN: waits for the apply and gives its report and status.
mode_result() {
    tx "$1"
    rs_left=1200
    until [ -r "$ROOT$TX/result" ]; do
        rs_left=$((rs_left - 1))
        [ "$rs_left" -gt 0 ] || die "the apply of $1 has not ended yet"
        sleep 0.1 2>/dev/null || sleep 1
    done
    cat "$ROOT$TX/log"
    slurp "$TX/result"
    return "$REPLY"
}

mode_run() {
    tx "$1"
    alone
    # An undo that came first wins.
    [ -r "$ROOT$TX/do" ] || die "nothing is staged for $1"
    PHASE=all
    STOP=1
    BOOT=$TX/boot
    put "$BOOT" "# boot settings of the ports below"
    apply_file "$ROOT$TX/do" >"$ROOT$TX/log" 2>&1
    rn_status=$?
    put "$TX/result.new" "$rn_status" && mv -f "$ROOT$TX/result.new" "$ROOT$TX/result"
    return "$rn_status"
}

mode_undo() {
    tx "$1"
    alone
    [ -r "$ROOT$TX/undo" ] || return 0
    PHASE=all
    ud_status=0
    ud_out=
    # What was only staged has changed nothing; its undo could only harm what others did since.
    if [ -e "$ROOT$TX/started" ]; then
        ud_out=$(apply_file "$ROOT$TX/undo" 2>&1)
        ud_status=$?
    fi
    put "$RUN/undone.$1" "$ud_status"
    slurp "$RUN/armed" && [ "${REPLY%% *}" = "$1" ] && rm -f "$ROOT$RUN/armed"
    rm -rf "$ROOT$TX"
    printf '%s\n' "$ud_out"
    return "$ud_status"
}

# disarm TOKEN: stops the timer if it is this transaction's.
disarm() {
    slurp "$RUN/armed" && [ "${REPLY%% *}" = "$1" ] || return 0
    systemctl stop "$UNDO_UNIT.timer" >/dev/null 2>&1
    return 0
}

# mode_confirm TOKEN: disarms, then makes the settings survive a reboot. Repeating it is harmless.
mode_confirm() {
    tx "$1"
    [ -e "$ROOT$RUN/confirmed.$1" ] && return 0
    [ -e "$ROOT$RUN/undone.$1" ] && die "the undo of $1 has already run"
    [ -r "$ROOT$TX/do" ] || die "nothing is known of $1: the server may have been rebooted, which undoes it"
    slurp "$TX/result"
    [ "$REPLY" = 0 ] || die "the apply of $1 has not succeeded"
    disarm "$1"
    alone
    trap '' HUP
    [ -r "$ROOT$TX/do" ] || die "the undo of $1 has already run"
    HERE=$ROOT$TX
    persist "$ROOT$TX/boot"
    put "$RUN/confirmed.$1" 1
    rm -rf "$ROOT$RUN/armed" "$ROOT$TX"
}

mode_revert() {
    tx "$1"
    [ -e "$ROOT$RUN/confirmed.$1" ] && die "$1 is already confirmed: use rocetune rollback"
    if [ -e "$ROOT$RUN/undone.$1" ]; then
        slurp "$RUN/undone.$1"
        return "$REPLY"
    fi
    [ -d "$ROOT$TX" ] || return 0
    disarm "$1"
    mode_undo "$1"
}

# mode_pending TOKEN: "kind seconds owner".
mode_pending() {
    tx "$1"
    if armed; then
        if [ "$OWNER" = "$1" ]; then
            printf 'reverting %s %s\n' "$LEFT" "$OWNER"
        else
            printf 'foreign %s %s\n' "$LEFT" "$OWNER"
        fi
    elif [ -d "$ROOT$TX" ]; then
        printf 'staged 0 %s\n' "$1"
    else
        printf 'idle 0 -\n'
    fi
}

# ---------------------------------------------------------------- main

main() {
    [ $# -gt 0 ] || die "usage: rocetune-host.sh MODE ..."
    m_mode=$1
    shift
    PHASE=all
    STOP=
    WRITE=1
    BOOT=
    case $m_mode in
    facts | ready) [ $# -eq 0 ] || die "$m_mode takes no argument" ;;
    read | inspect | counters) ;;
    apply | verify | run | undo | confirm | revert | pending | result) [ $# -ge 1 ] || die "$m_mode needs an argument" ;;
    commit) [ $# -eq 2 ] || die "commit needs a transaction and seconds" ;;
    install | uninstall) ;;
    *) die "no mode '$m_mode'" ;;
    esac
    case $m_mode in
    verify)
        WRITE=0
        apply_file "$1"
        ;;
    *) "mode_$m_mode" "$@" ;;
    esac
}

[ -n "${ROCETUNE_LIB:-}" ] || main "$@"
