#!/bin/sh
# Installs the Debian packages that the build and its tests need and this machine lacks.
#
# usage: install.sh GROUP...             groups: build, parts, tests, or a lane of tests/lanes.py
#        install.sh --packages GROUP...  print the packages of these groups
#
# Prints what it installs and how large that is before it does. OFFLINE=1 installs nothing. Exit status 1 only if something of the
# group build is missing in the end: tests that need other missing packages are skipped.
set -u

# A name is a program, NAME.pc a library of pkg-config, /PATH a file. The rest of a line: what goes without it.
needed() {
    cat <<'END'
build      gcc                  gcc
build      /usr/include/stdio.h libc6-dev
build      pkg-config           pkg-config
build      python3              python3
build      liburcu-memb.pc      liburcu-dev
build      jansson.pc           libjansson-dev
build      libzstd.pc           libzstd-dev
build      zlib.pc              zlib1g-dev
build      libelf.pc            libelf-dev
build      libunwind.pc         libunwind-dev
parts      libmicrohttpd.pc     libmicrohttpd-dev         `shadowtrace serve` is not built
parts      libcurl.pc           libcurl4-openssl-dev      `shadowtrace ship` is not built
tests      cmocka.pc            libcmocka-dev             unit tests and fuzzers are skipped
tests      jq                   jq
tests      /usr/include/Zydis/Zydis.h libzydis-dev
tests      /usr/share/bash-completion/bash_completion bash-completion
tests      /usr/lib/python3/dist-packages/networkx python3-networkx
tests      node                 nodejs
tests      npm                  npm
tests      chromium             chromium
tests      go                   golang-go
tests      tmux                 tmux
tests      heaptrack_print      heaptrack
tests      dpkg-source          dpkg-dev
tests      promtool             prometheus
tests      xmllint              libxml2-utils
tests      zsh                  zsh
tests      fish                 fish
tests      man                  man-db
tests      mandoc               mandoc
tests      docker-compose       docker-compose
tests      systemd-analyze      systemd
tests      /lib/ld-musl-x86_64.so.1 musl
browsers   firefox-esr          firefox-esr
arm64      aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu
arm64      qemu-aarch64-static  qemu-user-static
arm64      qemu-system-aarch64  qemu-system-arm
arm64      flex                 flex
arm64      bison                bison
arm64      bc                   bc
packages   dh                   debhelper
packages   lintian              lintian
packages   debootstrap          debootstrap
packages   aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu
packages   qemu-aarch64-static  qemu-user-static
clickhouse clickhouse-server    clickhouse-server
clickhouse curl                 curl
fleet      clickhouse-server    clickhouse-server
fleet      curl                 curl
END
}

there() { # NAME
    case $1 in
    *.pc) pkg-config --exists "${1%.pc}" 2>/dev/null ;;
    /*) [ -e "$1" ] ;;
    *) command -v "$1" >/dev/null 2>&1 || [ -x "/usr/sbin/$1" ] ;;
    esac
}

# The packages of these groups; with `missing` before them, those whose name is not there.
packages() {
    only=
    [ "$1" != missing ] || { only=missing; shift; }
    needed | while read -r group name package without; do
        case " $* " in *" $group "*) [ "$only" ] && there "$name" || printf '%s ' "$package" ;; esac
    done
}

get() { # as apt-get
    if [ "$(id -u)" = 0 ]; then set -- env "$@"; else set -- sudo env "$@"; fi
    "$@"
}

# Installs packages, without a word.
install() {
    get DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@" >/dev/null 2>&1 </dev/null
}

# How many packages that makes with those they depend on, and how large they are.
size_of() {
    LC_ALL=C apt-get --assume-no -o Debug::NoLocking=1 install --no-install-recommends "$@" 2>/dev/null | sed -n '
        s/^[0-9]* upgraded, \([0-9]*\) newly installed.*/\1 with those they depend on/p
        s/^Need to get \([^/]*[^ /]\)\(\/.*\)\{0,1\} of archives.*/\1 to download/p
        s/^After this operation, \(.*\) of additional disk space.*/\1 of disk/p' | paste -sd '|' | sed 's/|/, /g'
}

# Why nothing can be installed here; nothing if it can.
obstacle() {
    if [ -n "${OFFLINE:-}" ]; then
        echo 'OFFLINE=1 installs nothing'
    elif ! command -v apt-get >/dev/null; then
        echo 'there is no apt-get here: install them with your package manager'
    elif [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
        echo 'installing needs root or sudo'
    fi
}

add() { # PACKAGE...
    stale=
    get apt-get -qq -o APT::Update::Error-Mode=any update >/dev/null 2>&1 </dev/null || {
        stale=1
        echo 'apt-get update failed: the lists of packages may be old' >&2
    }
    known=
    for package; do
        ! apt-cache show "$package" >/dev/null 2>&1 || known="$known $package"
    done
    [ -n "$known" ] || return
    size=$(size_of $known)
    echo "installing:$known${size:+ ($size)}"
    install $known && return
    [ -z "$stale" ] || return
    # One that fails does not cost the others.
    for package in $known; do
        install "$package" || true
    done
}

if [ "${1:-}" = --packages ]; then
    shift
    packages "$@"
    exit
fi
missing=$(packages missing "$@")
if [ -n "$missing" ]; then
    why=$(obstacle)
    if [ -n "$why" ]; then
        echo "missing: $missing($why)" >&2
    else
        add $missing
        why='apt-get could not install them'
    fi
    skipped=
    while read -r group name package without; do
        case " $* " in *" $group "*) ;; *) continue ;; esac
        if [ "$group" = build ] || there "$name"; then
            continue
        elif [ -n "$without" ]; then
            echo "without $package: $without" >&2
        else
            skipped="$skipped $package"
        fi
    done <<END
$(needed)
END
    [ -z "$skipped" ] || echo "tests that need these packages are skipped:$skipped" >&2
    missing=$(packages missing build)
    case " $* " in *' build '*) [ -z "$missing" ] || {
        echo "cannot build without: $missing($why); install them and run make again" >&2
        exit 1
    } ;; esac
fi
case " $* " in *' build '*) command -v dotnet >/dev/null || {
    echo "the .NET SDK is missing: install .NET 8, 9 or 10 (package dotnet-sdk-10.0) so that 'dotnet' is on PATH" >&2
    exit 1
} ;; esac
