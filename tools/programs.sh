#!/bin/sh
# Install missing Debian packages, as root with apt-get only, and print the versions that are there.
#
#     sh tools/programs.sh chromium firefox-esr
#
# Always succeeds: tests skip, with a reason, what needs a program that is not there.

locate() {
    command -v "$1" || case $1 in
        chromium) command -v chromium-browser ;;
        firefox-esr) command -v firefox ;;
        *) false ;;
    esac
}

install() {
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y "$1" >/dev/null 2>&1
}

version() {
    case $1 in
        */iverilog | */yosys) option=-V ;;
        *) option=--version ;;
    esac
    "$1" $option </dev/null 2>/dev/null | grep -m 1 "[0-9]" ||
        "$1" $option </dev/null 2>&1 | grep -m 1 "[0-9]" || echo "of unknown version"
}

for program in "$@"; do
    if ! locate "$program" >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "installing $program"
        install "$program" || { apt-get update -qq >/dev/null 2>&1 && install "$program"; }
    fi
    if path=$(locate "$program"); then
        echo "found $program: $(version "$path")"
    else
        echo "SKIPPED: tests that need $program, which is not installed (apt-get install $program)"
    fi
done
