# The rules of `make install`, of packages, and of the packages that we need. Included by the Makefile.

.PHONY: deps deps-tests install install-built uninstall dist deb nupkg nupkg-benchmarkdotnet nupkg-shadowtrace

# ---- Missing Debian packages; src/package/install.sh has the table. The user installs the .NET SDK.
# With OFFLINE=1 nothing is installed, and NuGet uses only its cache.

OFFLINE ?=
export OFFLINE
ifneq ($(OFFLINE),)
export RestoreSources := $(CURDIR)/tests/fixtures
endif

deps:
	$(Q)sh src/package/install.sh build parts

# Also what tests compare our files with, or open them with (tests/e2e/consumers.py).
deps-tests:
	$(Q)sh src/package/install.sh build parts tests

# need(program, Debian package): fails if the program is not installed.
need = $(if $(shell command -v $(1)),,$(error $(1) is missing: apt-get install $(2)))

# ---- make install.

PREFIX ?= /usr/local
DESTDIR ?=
# Where each shell looks for completions of other packages' programs.
BASH_COMPLETIONS ?= $(PREFIX)/share/bash-completion/completions
ZSH_COMPLETIONS ?= $(PREFIX)/share/zsh/site-functions
FISH_COMPLETIONS ?= $(PREFIX)/share/fish/vendor_completions.d
MAN ?= $(PREFIX)/share/man
DOC ?= $(PREFIX)/share/doc/shadowtrace

BIN_DIR = $(DESTDIR)$(PREFIX)/bin
LIB_DIR = $(DESTDIR)$(PREFIX)/lib/shadowtrace
SHARE_DIR = $(DESTDIR)$(PREFIX)/share/shadowtrace
INCLUDE_DIR = $(DESTDIR)$(PREFIX)/include/shadowtrace
MAN_DIR = $(DESTDIR)$(MAN)
DOC_DIR = $(DESTDIR)$(DOC)
# Those of this machine's build: a program makes them.
PAGES = $(if $(CROSS),build,$(BUILD))
BASH_FILE = $(DESTDIR)$(BASH_COMPLETIONS)/shadowtrace
ZSH_FILE = $(DESTDIR)$(ZSH_COMPLETIONS)/_shadowtrace
FISH_FILE = $(DESTDIR)$(FISH_COMPLETIONS)/shadowtrace.fish

install: all
	$(Q)$(MAKE) install-built

# Installs without building, so that root runs only make from the build tree. install(1) removes the old file and
# creates a new one: it does not follow a link in its place. The directories below PREFIX belong to root.
install-built:
	install -d $(BIN_DIR) $(LIB_DIR) $(SHARE_DIR) $(INCLUDE_DIR)/clr $(addprefix $(MAN_DIR)/man,1 5 7) $(DOC_DIR)
	install -m 755 $(CMD) $(SERVE) $(SHIP) $(BIN_DIR)/
	install -m 755 $(LIB) $(LIB_DIR)/
	install -m 644 $(wildcard include/shadowtrace/*_schema.json) $(SHARE_DIR)/
	install -m 644 $(wildcard include/shadowtrace/*.h) $(INCLUDE_DIR)/
	install -m 644 $(wildcard include/shadowtrace/clr/*.h) $(INCLUDE_DIR)/clr/
	install -m 644 $(PAGES)/man1/*.1 $(MAN_DIR)/man1/
	install -m 644 $(PAGES)/man5/*.5 $(MAN_DIR)/man5/
	install -m 644 $(PAGES)/man7/*.7 $(MAN_DIR)/man7/
	install -D -m 644 $(PAGES)/completion/bash $(BASH_FILE)
	install -D -m 644 $(PAGES)/completion/zsh $(ZSH_FILE)
	install -D -m 644 $(PAGES)/completion/fish $(FISH_FILE)
	install -m 644 README.md LICENSE $(DOC_DIR)/

uninstall:
	rm -f $(addprefix $(BIN_DIR)/,shadowtrace shadowtrace-serve shadowtrace-ship)
	rm -f $(MAN_DIR)/man1/shadowtrace.1 $(MAN_DIR)/man[157]/shadowtrace-*.[157]
	rm -f $(BASH_FILE) $(ZSH_FILE) $(FISH_FILE)
	rm -rf $(LIB_DIR) $(SHARE_DIR) $(INCLUDE_DIR) $(DOC_DIR)

# ---- The source package, and the Debian package made from it. Both are reproducible.

NAME_VERSION := shadowtrace-$(VERSION)
DIST := $(BUILD)/$(NAME_VERSION).tar.gz
dist:
	$(call say,TAR,$(DIST))sh src/package/dist.sh $(NAME_VERSION) $(EPOCH) $(DIST)

# The maintainer, as in all tools of Debian.
export DEBFULLNAME ?= shadowtrace maintainers
export DEBEMAIL ?= maintainers@shadowtrace.invalid
deb: dist
	$(call need,dh,debhelper)$(call say,DEB,$(BUILD)/deb)sh src/package/debian.sh $(abspath $(BUILD))/deb \
	  $(abspath $(DIST)) $(VERSION) $(EPOCH) $(ALL_PROCESSORS)

# ---- The packages of managed code.

MSBUILD_FLAGS = -restore -nologo -v:q -nodeReuse:false -p:UseSharedCompilation=false \
                -p:OutFolder=$(abspath $(PACKAGE)) -p:Version=$(VERSION)

nupkg-benchmarkdotnet: MANAGED := Shadowtrace.BenchmarkDotNet
nupkg-shadowtrace: MANAGED := Shadowtrace
nupkg-benchmarkdotnet nupkg-shadowtrace:
	$(call say,PACK,$(MANAGED))dotnet msbuild src/managed/$(MANAGED) -t:Pack $(MSBUILD_FLAGS)

# ---- The .NET tool: one package with the command, the library and the libraries that they need, for an older glibc
# than this machine's. The objects are those of `all`, linked against stubs of that glibc (src/package/nuget/stubs.py).
# Symbols are in debug/, by build id, and in an archive.

GLIBC_FLOOR := 2.17
NUGET := src/package/nuget
PACKAGE := $(BUILD)/package
NUPKG := $(PACKAGE)/shadowtrace.$(VERSION).nupkg
SYMBOLS := $(NUPKG:.nupkg=.debug.tar.gz)
NATIVE := $(PACKAGE)/native
STUBS := $(PACKAGE)/glibc/libc.so
SHIM := $(PACKAGE)/shim/shadowtrace.dll
NEEDED := $(addprefix $(NATIVE)/,liburcu-memb.so.8 libjansson.so.4)
PACKED := $(addprefix $(NATIVE)/,shadowtrace libshadowtrace.so) $(NEEDED)
# Needed libraries are found in the same directory. libpthread and libdl are empty today, but not in older glibcs.
PACKAGE_FLAGS = $(LDFLAGS) -L$(dir $(STUBS)) -static-libgcc -Wl,--disable-new-dtags -Wl,-rpath,'$$ORIGIN' \
                -Wl,--no-as-needed -lpthread -ldl -Wl,--as-needed
package_link = $(call say,LD,$@)CC='$(CC)' OBJCOPY=$(CROSS)objcopy \
               sh $(NUGET)/link.sh $(@F) $(NATIVE) $(PACKAGE)/debug $(CC)

nupkg: $(NUPKG) $(SYMBOLS)

# With WITH_ARM64=1 the package also has the command and the library for arm64.
WITH_ARM64 ?=
NATIVE_ARM64 := $(ARM64)/package/native
.PHONY: native native-arm64
native: $(PACKED)
native-arm64:
	$(Q)$(MAKE) arm64 ARM64_GOALS=native
$(NUPKG): $(if $(WITH_ARM64),native-arm64)

$(NUPKG): $(PACKED) $(SHIM) $(addprefix $(NUGET)/,pack.py shadowtrace.nuspec README.md) LICENSE
	$(call say,PACK,$@)python3 $(NUGET)/pack.py $(VERSION) $(GLIBC_FLOOR) $(dir $(SHIM)) $@ \
	  linux-x64=$(NATIVE) $(if $(WITH_ARM64),linux-arm64=$(NATIVE_ARM64))

$(SYMBOLS): $(PACKED)
	$(call say,TAR,$@)tar -C $(PACKAGE)/debug --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf - \
	  .build-id | gzip -9n >$@

# The library also runs under musl: it and the libraries that it needs use no symbol of glibc that musl lacks.
$(NATIVE)/libshadowtrace.so: $(LIB_OBJ) $(PACKAGE)/obj/glibc.o $(COMMON) $(NEEDED) $(BUILD)/linked_with
	$(package_link) -shared $(LIB_FLAGS) $(parts) $(PACKAGE_FLAGS) $(NEEDED) -lm
	$(Q)tests/tls-size $@

$(NATIVE)/shadowtrace: $(CMD_OBJ) $(PACKAGE)/obj/start.o $(PACKAGE)/obj/glibc.o $(COMMON) $(STUBS) $(BUILD)/linked_with
	$(package_link) $(parts) $(PACKAGE_FLAGS) $(LIBS_CMD)

needed_link = $(package_link) -shared -fPIC $(TLS) -O2 -g -D_GNU_SOURCE -Wl,-soname,$(@F) -Wl,-z,now,-z,relro \
              -Wl,--no-undefined

# The flavor of liburcu that the library uses, compiled as by liburcu's src/Makefile.am, with Debian's headers.
URCU_SRC := urcu.c urcu-pointer.c compat_arch.c compat_futex.c
$(NATIVE)/liburcu-memb.so.8: $(PACKAGE)/liburcu/source $(STUBS)
	$(needed_link) -DRCU_MEMBARRIER -I$(<D) -I$</include -I$</src $(URCU_SRC:%=$</src/%) $(PACKAGE_FLAGS)

# Compiled as by jansson's src/Makefile.am. Debian's jansson_config.h suits any system. These are what configure finds.
JANSSON_HAS := ENDIAN_H FCNTL_H SCHED_H UNISTD_H SYS_PARAM_H SYS_STAT_H SYS_TIME_H SYS_TYPES_H STDINT_H CLOSE GETPID \
               GETTIMEOFDAY OPEN READ SCHED_YIELD STRTOLL ATOMIC_BUILTINS SYNC_BUILTINS LOCALECONV
JANSSON_FLAGS := $(JANSSON_HAS:%=-DHAVE_%) -DUSE_URANDOM -DINITIAL_HASHTABLE_ORDER=3
$(NATIVE)/libjansson.so.4: $(PACKAGE)/jansson/source $(STUBS)
	$(needed_link) -w $(JANSSON_FLAGS) -I$(<D) -I$</src -Wl,--version-script=$(<D)/version.map $</src/*.c \
	  $(PACKAGE_FLAGS)

$(PACKAGE)/liburcu/source: HEADERS := liburcu-dev
$(PACKAGE)/jansson/source: HEADERS := libjansson-dev
$(PACKAGE)/%/source: $(NUGET)/source.sh
	$(call say,GET,$@)sh $< $* $(HEADERS) $(@D) && touch $@

$(PACKAGE)/obj/%.o: $(NUGET)/%.c $(BUILD)/compiled_with
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(CPPFLAGS_ALL) $(SEES_common) $(CFLAGS_ALL) -c -o $@ $<

$(STUBS): $(NUGET)/stubs.py
	$(call say,GEN,$@)CC='$(CC)' python3 $< $(GLIBC_FLOOR) $(@D)

$(SHIM): $(wildcard src/managed/shim/*.cs src/managed/shim/*.csproj) src/managed/Directory.Build.props
	$(call say,DOTNET,$@)dotnet msbuild src/managed/shim/shim.csproj $(MSBUILD_FLAGS) && touch $@
