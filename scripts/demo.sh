#!/bin/sh
# The main job on emulated devices, command by command. Used by `make demo`: scripts/demo.sh path/to/rocetune
set -u
rocetune=$1
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit 2
begun=$(date +%s)

# Shows a command, runs it, and ends the demo unless its exit code is one of the allowed ones.
step() {
    allowed=$1
    shift
    printf '\n$ rocetune %s\n' "$*"
    "$rocetune" "$@"
    code=$?
    case " $allowed " in
    *" $code "*) ;;
    *)
        printf '\ndemo: this command ended with %s\n' "$code" >&2
        exit "$code"
        ;;
    esac
}

if "$rocetune" lab status >/dev/null 2>&1; then
    step 0 lab status
else
    step 0 lab start
fi
step 0 validate
step 0 plan
step "0 1" --lab diff --limit leaf1
step 0 --lab apply --bring-up --yes
step 0 --lab doctor
printf '\nThe emulated rack is healthy after %s s. Run `make demo` again: no changes.\n' "$(($(date +%s) - begun))"
printf 'Break something:  %s lab fault\nStop the lab:     %s lab stop\n' "$rocetune" "$rocetune"
