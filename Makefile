# shadowtrace: one non-recursive file. Sources, tests and examples are found by wildcard; all output goes to build/.
#
#   make            the library and the command
#   make demo       install what is missing, record a small program and the C# compiler, show their lines
#   make check      install what is missing (OFFLINE=1: nothing), run every test
#   make check-all  that, and the long runs: LIST=1 names them, LANE="kills soak" runs these
#   make soak       a server under load, recorded for 20 minutes (SOAK_SECONDS) with faults at random
#   make fuzz       a million mutated inputs for each of eight readers (FUZZ_INPUTS, FUZZ_SEED) under sanitizers
#   make bench      what each way of capturing costs: 25 minutes; BENCH_QUICK=1: 5; BENCH_ONLY="fsc kestrel": those
#   make lint       tests/lint.py (levels, circles, sizes), clang-format and clang-tidy
#   make nupkg      the package for `dotnet tool install`, and its symbols: build/package
#   make nupkg-benchmarkdotnet   the package of [ShadowtraceDiagnoser]
#   make nupkg-shadowtrace       the package of Allocations.Assert
#   make install    PREFIX=/usr/local DESTDIR=; make uninstall takes it away again
#   make dist       build/shadowtrace-VERSION.tar.gz, the source
#   make deb        build/deb/shadowtrace_VERSION_*.deb, a Debian package
#
# NEGATIVE=1 builds, into build/negative, a library in which SHADOWTRACE_WITHOUT=RULE switches a rule of the stack off.
# V=1 shows the commands. SAN=address,undefined (or SAN=thread) builds with sanitizers, in a folder of its own.

V ?= 0
SAN ?=
PREFIX ?= /usr/local
DESTDIR ?=
CC ?= cc
AR ?= ar
CPU := $(shell uname -m)
VERSION := 0.1.0

comma := ,
BUILD := build$(if $(SAN),/san-$(subst $(comma),-,$(SAN)))$(if $(FUZZING),/fuzzing)$(if $(NEGATIVE),/negative)
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' '$(1)' '$(2)';)

# Three wings: src/tracer/ runs inside the traced process, src/tool/ is the command, src/common/ serves both. The first two
# never see each other: each is compiled with its own folder and src/common/ on the include path, src/common/ with itself.
# src/package/ is what makes packages of them; its program reads the command's tables and is installed nowhere.
WINGS := tracer tool common package
SEES_tracer := -Isrc/tracer -Isrc/common -I.
SEES_tool := -Isrc/tool -Isrc/common
SEES_common := -Isrc/common
SEES_package := -Isrc/package $(SEES_tool)
SEES_all := $(WINGS:%=-Isrc/%) -I.

PKGS_LIB := liburcu-mb jansson
PKGS_CMD := jansson zlib libzstd libelf
# Of shadowtrace-serve alone, which is built where it is to be had.
PKG_SERVE := $(shell pkg-config --exists libmicrohttpd 2>/dev/null && echo libmicrohttpd)
# The same of shadowtrace-ship.
PKG_SHIP := $(shell pkg-config --exists libcurl 2>/dev/null && echo libcurl)

WARN := -Wall -Wextra -Wconversion -Wshadow -Wundef -Wvla -Wcast-qual -Wstrict-prototypes -Wmissing-prototypes
ifneq ($(WERROR),)
WARN += -Werror
endif
OPT ?= -O2 -g
# TLS descriptors: glibc places the library's thread-local data in static TLS if there is room. musl has no room for a library
# that is loaded later, and refuses the initial-exec model (hooks/near.c). On arm64 descriptors are the compilers' default.
TLS := -ftls-model=global-dynamic $(if $(filter x86_64,$(CPU)),-mtls-dialect=gnu2)
CPPFLAGS_ALL = -D_GNU_SOURCE -DSHADOWTRACE_VERSION='"$(VERSION)"' -Iinclude -I$(BUILD)/gen $(RULES_OFF) $(CPPFLAGS)
CFLAGS_ALL = -std=c11 $(OPT) $(WARN) -fPIC -fvisibility=hidden -fno-omit-frame-pointer $(TLS) \
             $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=undefined) $(if $(FUZZING),-fsanitize-coverage=trace-pc '-DREPORT_LINE_MAX=((size_t)16384)') $(if $(findstring thread,$(SAN)),-Wno-tsan) \
             $(PKG_CFLAGS) $(CFLAGS)
LDFLAGS_ALL = $(if $(SAN),-fsanitize=$(SAN)) $(LDFLAGS)
PKG_CFLAGS = $(shell pkg-config --cflags $(sort $(PKGS_LIB) $(PKGS_CMD) $(PKG_SERVE) $(PKG_SHIP)) 2>/dev/null)
LIBS_LIB = $(shell pkg-config --libs $(PKGS_LIB) 2>/dev/null) -lpthread -ldl -lm
LIBS_SHARED = $(shell pkg-config --libs $(PKGS_CMD) 2>/dev/null) -lpthread -lm
# What `record` has no use for is linked in, if there is an archive of it: the command starts 0.2 ms sooner. SHARED=1: for
# distributions, which mend a library in one place.
archive = $(if $(SHARED),-l$(1),$(firstword $(wildcard $(shell $(CC) -print-file-name=lib$(1).a)) -l$(1)))
LIBS_CMD = $(foreach lib,elf zstd z,$(call archive,$(lib))) $(LIBS_SHARED)
# A decoder of machine code that ours is compared with; it has no .pc file.
ZYDIS := /usr/include/Zydis/Zydis.h
LIBS_TEST = $(sort $(LIBS_LIB) $(LIBS_SHARED)) $(shell pkg-config --libs cmocka 2>/dev/null) $(if $(wildcard $(ZYDIS)),-lZydis)

# With NEGATIVE=1 only what knows of the rules (by stack_hot.h) is compiled again, and the rest is taken from beside it.
RULE_DIRS := live heap stack thread alloc values events check select profiler walk
PLAIN := $(BUILD:%/negative=%)
RULE_SRC := $(wildcard $(RULE_DIRS:%=src/tracer/%/*.c))
object = $(if $(filter $(RULE_SRC),$(1)),$(BUILD),$(PLAIN))/obj/$(1:.c=.o)
objects = $(foreach file,$(wildcard src/$(1)/*/*.c),$(call object,$(file)))
HOOK_OBJ := $(patsubst %,$(BUILD)/obj/%.o,$(basename $(wildcard hooks/*.c hooks/$(CPU)/*.S)))
LIB_OBJ := $(filter-out %/offsets.o,$(call objects,tracer)) $(HOOK_OBJ)
TOOL_OBJ := $(call objects,tool)
SERVE_OBJ := $(filter %/server/main.o %/server/http.o,$(TOOL_OBJ))
SHIP_OBJ := $(filter %/shipper/main.o %/shipper/http.o,$(TOOL_OBJ))
# Rooms of these two alone.
NOT_CMD := $(foreach room,job server shipper,$(filter $(BUILD)/obj/src/tool/$(room)/% $(PLAIN)/obj/src/tool/$(room)/%,$(TOOL_OBJ)))
CMD_OBJ := $(filter-out $(NOT_CMD),$(TOOL_OBJ))
COMMON_OBJ := $(call objects,common)
# glibc.c and start.c are of `make nupkg`.
PACKAGE_OBJ := $(filter-out %/nuget/glibc.o %/nuget/start.o,$(call objects,package))
ALL_OBJ := $(sort $(LIB_OBJ) $(COMMON_OBJ) $(filter-out %/cli/main.o %/generate/main.o %/shipper/send.o $(SERVE_OBJ) $(SHIP_OBJ),$(TOOL_OBJ) $(PACKAGE_OBJ)))
COMMON := $(PLAIN)/libcommon.a

LIB := $(BUILD)/libshadowtrace.so
CMD := $(BUILD)/shadowtrace
SERVE := $(if $(PKG_SERVE),$(BUILD)/shadowtrace-serve)
SHIP := $(if $(PKG_SHIP),$(BUILD)/shadowtrace-ship)
SCHEMA := $(BUILD)/log_schema.json
GENERATE := $(BUILD)/generate
SHELLS := bash zsh fish
MANUAL := $(BUILD)/man1/shadowtrace.1
COMPLETIONS := $(SHELLS:%=$(BUILD)/completion/%)

.PHONY: all dist deb install-built deps deps-tests check check-all test-programs negative soak copies check-loop demo bench lint install uninstall clean unit fuzz fuzz-programs
.DELETE_ON_ERROR:
.SECONDARY:

all: $(LIB) $(CMD) $(SERVE) $(SHIP) $(SCHEMA) $(MANUAL) $(COMPLETIONS)

# By rename: processes that have the library mapped keep theirs. Code and constants share pages: less to map at a start.
LIB_FLAGS := -Wl,-soname,libshadowtrace.so -Wl,-z,now,-z,relro,-z,noseparate-code -Wl,--no-undefined
$(LIB): $(LIB_OBJ) $(COMMON)
	$(call say,LD,$@)$(CC) -shared -o $@.new $(LDFLAGS_ALL) $(LIB_FLAGS) $^ $(LIBS_LIB)
	$(Q)tests/tls-size $@.new && mv -f $@.new $@

$(CMD): $(CMD_OBJ) $(COMMON)
	$(call say,LD,$@)$(CC) -o $@ $(LDFLAGS_ALL) -Wl,--as-needed $^ $(LIBS_CMD)

# A program of its own, of the same parts: nothing else needs a server of HTTP.
$(BUILD)/shadowtrace-serve: $(SERVE_OBJ) $(BUILD)/libtool.a $(COMMON)
	$(call say,LD,$@)$(CC) -o $@.new $(LDFLAGS_ALL) -Wl,--as-needed $^ $(LIBS_CMD) $(shell pkg-config --libs $(PKG_SERVE) 2>/dev/null)
	$(Q)mv -f $@.new $@

# The same of what needs a client.
$(BUILD)/shadowtrace-ship: $(SHIP_OBJ) $(BUILD)/libtool.a $(COMMON)
	$(call say,LD,$@)$(CC) -o $@.new $(LDFLAGS_ALL) -Wl,--as-needed $^ $(LIBS_CMD) $(shell pkg-config --libs $(PKG_SHIP) 2>/dev/null)
	$(Q)mv -f $@.new $@

# Archives: of what is common each side links only what it uses.
$(COMMON): $(COMMON_OBJ)
$(BUILD)/libtool.a: $(filter-out %/cli/main.o $(SERVE_OBJ) $(SHIP_OBJ),$(TOOL_OBJ))
$(COMMON) $(BUILD)/libtool.a $(BUILD)/liball.a $(BUILD)/libsupport.a:
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $^

$(SCHEMA): include/shadowtrace/log_schema.json
	$(Q)mkdir -p $(@D) && cp $< $@

# ---- Manual pages and completions: the program of the build prints them from the command's tables.

# When this was made, for pages and packages: the last commit; without git, of a source package, that of its files.
EPOCH = $(or $(SOURCE_DATE_EPOCH),$(shell { [ -e .git ] && git log -1 --format=%ct 2>/dev/null; } || stat -c %Y Makefile))

$(GENERATE): $(PACKAGE_OBJ) $(filter-out %/cli/main.o,$(CMD_OBJ)) $(COMMON)
	$(call say,LD,$@)$(CC) -o $@ $(LDFLAGS_ALL) -Wl,--as-needed $^ $(LIBS_CMD)

$(MANUAL): date = "$$(date -u -d @$(EPOCH) +%F)"
$(MANUAL): $(GENERATE) src/package/manual/pages.py $(wildcard src/manual/*.md)
	$(call say,GEN,$(@D))rm -rf $(BUILD)/man[157] && mkdir -p $(@D) && $(GENERATE) manual $(@D) $(date) && \
	  python3 src/package/manual/pages.py $(VERSION) $(date) $(BUILD) src/manual/*.md

# The first line of zsh's names the command.
$(COMPLETIONS): $(BUILD)/completion/%: src/package/completion/%.sh $(GENERATE)
	@mkdir -p $(@D)
	$(call say,GEN,$@){ echo '$(if $(filter zsh,$*),#compdef shadowtrace,# Completion of shadowtrace in $*.)'; \
	  echo '# Made from the tables of options; do not edit.'; echo; $(GENERATE) $* && cat $<; } >$@

# compiled(build folder, sources, what they may include)
define compiled
$(1)/obj/$(2)%.o: $(2)%.c
	@mkdir -p $$(@D)
	$$(call say,CC,$$<)$$(CC) $$(CPPFLAGS_ALL) $(3) $$(CFLAGS_ALL) -MMD -MP -c -o $$@ $$<
endef
$(foreach folder,$(sort $(BUILD) $(PLAIN)),\
  $(foreach wing,$(WINGS),$(eval $(call compiled,$(folder),src/$(wing)/,$(SEES_$(wing)) $(FLAGS_$(wing)))))\
  $(eval $(call compiled,$(folder),hooks/,$(SEES_tracer)))$(eval $(call compiled,$(folder),tests/,$(SEES_all) -Itests)))

ifneq ($(NEGATIVE),)
$(BUILD)/%: private RULES_OFF := -DSHADOWTRACE_NEGATIVE
endif

# Runs in hooks, whose stubs save no vector registers around it.
$(BUILD)/obj/hooks/calls_hot.o: CFLAGS_ALL += -mgeneral-regs-only

$(BUILD)/obj/%.o: %.S $(BUILD)/gen/stack_offsets.h
	@mkdir -p $(@D)
	$(call say,AS,$<)$(CC) $(CPPFLAGS_ALL) $(SEES_tracer) -MMD -MP -c -o $@ $<

# Structure offsets for the assembly, taken from what the compiler makes of src/tracer/stack/offsets.c.
$(BUILD)/gen/stack_offsets.h: $(addprefix src/tracer/stack/,offsets.c stack_hot.h stack.h)
	@mkdir -p $(@D)
	$(call say,GEN,$@)$(CC) $(CPPFLAGS_ALL) $(SEES_tracer) $(filter-out -fsanitize=%,$(CFLAGS_ALL)) -S -o - $< \
	  | sed -n 's/^.*->\([A-Z_]*\) \$$\([0-9]*\).*$$/#define \1 \2/p' > $@

# The schemas are part of the command, and so is the page.
$(PLAIN)/obj/src/tool/validate/schema_text.o: include/shadowtrace/log_schema.json
$(PLAIN)/obj/src/tool/gate/schema_text.o: include/shadowtrace/budget_schema.json
$(PLAIN)/obj/src/tool/page/files.o: $(wildcard src/tool/page/*.html src/tool/page/*.css src/tool/page/js/*.js)

-include $(shell find $(sort $(BUILD)/obj $(PLAIN)/obj) -name '*.d' 2>/dev/null)

# ---- What a fresh machine lacks: Debian packages, the table of which is in the script; the .NET SDK is the user's.
# OFFLINE=1 installs nothing; NuGet then finds what is in its cache, and no other package.

OFFLINE ?=
export OFFLINE
ifneq ($(OFFLINE),)
export RestoreSources := $(CURDIR)/tests/fixtures
endif

deps:
	$(Q)sh src/package/install.sh build parts

# Also what single tests compare with, or open our files with (tests/e2e/consumers.py).
deps-tests:
	$(Q)sh src/package/install.sh build parts tests

# ---- Tests: one program per tests/unit/<folder>/test_*.c, against every object but the command's main. What tests share
# (tests/support, and the other .c files beside them) is compiled once; main() is there, too.

UNIT_SRC := $(wildcard tests/unit/*/test_*.c)
UNIT := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(UNIT_SRC))
SUPPORT_SRC := $(wildcard tests/support/*.c tests/support/$(CPU)/*.S) $(filter-out $(UNIT_SRC),$(wildcard tests/unit/*/*.c))
SUPPORT := $(BUILD)/libsupport.a
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(FUZZ_SRC))

$(BUILD)/liball.a: $(ALL_OBJ)
$(SUPPORT): $(patsubst %,$(BUILD)/obj/%.o,$(basename $(SUPPORT_SRC)))

$(BUILD)/unit/%: tests/unit/%.c $(SUPPORT) $(BUILD)/liball.a
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(CPPFLAGS_ALL) $(SEES_all) $(CFLAGS_ALL) -Itests -MMD -MP -MF $@.d -MT $@ -o $@ $< $(SUPPORT) $(BUILD)/liball.a \
	  $(LDFLAGS_ALL) $(LIBS_TEST)

$(BUILD)/fuzz/%: tests/fuzz/%.c tests/fuzz/driver.c $(SUPPORT) $(BUILD)/liball.a
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(CPPFLAGS_ALL) $(SEES_all) $(CFLAGS_ALL) -Itests -o $@ $< tests/fuzz/driver.c $(SUPPORT) $(BUILD)/liball.a $(LDFLAGS_ALL) $(LIBS_TEST)

-include $(wildcard $(BUILD)/unit/*/*.d)

# Both need cmocka.
CMOCKA := $(shell pkg-config --exists cmocka 2>/dev/null && echo cmocka)
unit: $(if $(CMOCKA),$(UNIT) $(FUZZ))

# Mutated inputs under sanitizers.
FUZZ_INPUTS ?= 1000000
FUZZ_SEED ?= 1
fuzz:
	$(Q)$(MAKE) --no-print-directory SAN=address,undefined FUZZING=1 fuzz-programs
	$(Q)sh tests/fuzz/run.sh build/san-address-undefined/fuzzing/fuzz $(FUZZ_INPUTS) $(FUZZ_SEED)
fuzz-programs: $(FUZZ)

# A sanitized library cannot live in an unsanitized dotnet: there the unit tests and corpora are what is run.
# Unless the user says how many jobs, there are as many as processors.
ALL_PROCESSORS = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))
check: test-programs
	$(Q)python3 tests/check.py $(BUILD) $(if $(SAN),--only unit --only fuzz)

# All that tests run, but the programs of tests/e2e, which run.py builds.
test-programs: deps-tests
	$(Q)$(MAKE) --no-print-directory $(ALL_PROCESSORS) all unit
	$(Q)$(if $(SAN),,$(MAKE) --no-print-directory $(ALL_PROCESSORS) negative)
	$(Q)$(if $(SAN),,$(packed_for_tests))

# LANE="kills soak": only these; FRESH=1: those, too, that passed on these sources; LIST=1: what there is.
check-all: $(if $(LIST),,test-programs)
	$(Q)python3 tests/lanes.py $(BUILD) $(LANE:%=--lane %) $(if $(FRESH),--fresh) $(if $(LIST),--list)

# What the negative controls of tests/e2e run: no test builds in here.
negative:
	$(Q)$(MAKE) --no-print-directory NEGATIVE=1 $(addprefix build/negative/,libshadowtrace.so $(if $(CMOCKA),unit/stack/test_copies unit/live/test_live))

SOAK_SECONDS ?= 1200
soak: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)python3 tests/e2e/soak.py --seconds $(SOAK_SECONDS)

# Copies of all stacks against threads that call, throw, grow and end: 100,000 of them.
copies: $(if $(CMOCKA),$(BUILD)/unit/stack/test_copies)
	$(Q)$(if $(CMOCKA),,echo 'cannot run: cmocka is not installed'; exit 77)
	$(Q)COPIES=100000 SECONDS=3600 $<

check-loop:
	$(Q)while $(MAKE) --no-print-directory check; do :; done

# ---- The demonstration: lines of a small program, then the C# compiler, and how exact its stacks are.

demo: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)SHADOWTRACE_BUILD=$(abspath $(BUILD)) sh examples/demo.sh

bench: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)python3 tests/bench/bench.py $(abspath $(BUILD)) $(if $(BENCH_QUICK),--quick) $(if $(BENCH_ONLY),$(BENCH_ONLY:%=--only %))

LINT := $(wildcard src/*/*/*.[ch] hooks/*.[ch] include/shadowtrace/*.h include/shadowtrace/*/*.h tests/*/*.[ch] tests/unit/*/*.[ch])
lint:
	$(Q)python3 tests/lint.py --objects $(BUILD)/obj
	$(Q)command -v clang-format >/dev/null && command -v clang-tidy >/dev/null || { \
	  echo "clang-format and clang-tidy are missing: install the packages of the same names" >&2; exit 1; }
	$(Q)clang-format --dry-run --Werror $(LINT)
	$(Q)clang-tidy --quiet $(wildcard src/*/*/*.c hooks/*.c) -- -std=c11 $(CPPFLAGS_ALL) $(SEES_all) $(PKG_CFLAGS)

# ---- The .NET tool (`make nupkg`): one package with the command, the library and what they link, for an older glibc than this
# machine's. They are the objects of `all`, linked against stand-ins of that glibc (src/package/nuget/stubs.py). The symbols lie
# beside it in debug/, by build id, and in an archive.

GLIBC_FLOOR := 2.17
NUGET := src/package/nuget
PACKAGE := $(BUILD)/package
NUPKG := $(PACKAGE)/shadowtrace.$(VERSION).nupkg
NATIVE := $(PACKAGE)/native
STANDINS := $(PACKAGE)/glibc/libc.so
SHIM := $(PACKAGE)/shim/shadowtrace.dll
PACKED := $(addprefix $(NATIVE)/,shadowtrace libshadowtrace.so liburcu-mb.so.8 libjansson.so.4)
# What it links lies beside it. libpthread and libdl are empty today, and were not in older glibcs.
PACKAGE_FLAGS = $(LDFLAGS) -L$(dir $(STANDINS)) -static-libgcc -Wl,--disable-new-dtags -Wl,-rpath,'$$ORIGIN' \
                -Wl,--no-as-needed -lpthread -ldl -Wl,--as-needed
linked = $(call say,LD,$@)sh $(NUGET)/link.sh $(@F) $(NATIVE) $(PACKAGE)/debug

.PHONY: nupkg nupkg-benchmarkdotnet nupkg-shadowtrace
nupkg: $(NUPKG) $(NUPKG:.nupkg=.debug.tar.gz)

$(NUPKG): $(PACKED) $(SHIM) $(addprefix $(NUGET)/,pack.py shadowtrace.nuspec README.md) LICENSE
	$(call say,PACK,$@)python3 $(NUGET)/pack.py $(VERSION) $(GLIBC_FLOOR) $(NATIVE) $(dir $(SHIM)) $@

$(NUPKG:.nupkg=.debug.tar.gz): $(PACKED)
	$(call say,TAR,$@)tar -C $(PACKAGE)/debug --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf - .build-id | gzip -9n >$@

# The library runs under musl, too: it and what lies beside it need no library and no symbol of glibc that musl does not have.
BESIDE := $(addprefix $(NATIVE)/,liburcu-mb.so.8 libjansson.so.4)
$(NATIVE)/libshadowtrace.so: $(LIB_OBJ) $(PACKAGE)/obj/glibc.o $(COMMON) $(BESIDE)
	$(linked) $(CC) -shared $(LIB_FLAGS) $(filter-out $(BESIDE),$^) $(PACKAGE_FLAGS) $(BESIDE) -lm
	$(Q)tests/tls-size $@

$(NATIVE)/shadowtrace: $(CMD_OBJ) $(PACKAGE)/obj/start.o $(PACKAGE)/obj/glibc.o $(COMMON) $(STANDINS)
	$(linked) $(CC) $(filter-out $(STANDINS),$^) $(PACKAGE_FLAGS) $(LIBS_CMD)

linked_beside = $(linked) $(CC) -shared -fPIC $(TLS) -O2 -g -D_GNU_SOURCE -Wl,-soname,$(@F) -Wl,-z,now,-z,relro -Wl,--no-undefined

# The flavour that the library uses, as liburcu's src/Makefile.am makes it, with the headers that Debian configured. With TLS
# descriptors it takes part of the static TLS that the library needs, so a reader is not aligned: 48 bytes, not 384.
$(NATIVE)/liburcu-mb.so.8: $(PACKAGE)/liburcu/source $(STANDINS)
	$(Q)mkdir -p $(<D)/urcu/static && sed 's/ *__attribute__((aligned(CAA_CACHE_LINE_SIZE)))//' $</include/urcu/static/urcu-common.h \
	  >$(<D)/urcu/static/urcu-common.h
	$(linked_beside) -DRCU_MB -I$(<D) -I$</include -I$</src $(addprefix $</src/,urcu.c urcu-pointer.c compat_arch.c compat_futex.c) $(PACKAGE_FLAGS)

# As jansson's src/Makefile.am makes it; Debian's jansson_config.h is that of any system. What configure finds is given here.
JANSSON_HAS := ENDIAN_H FCNTL_H SCHED_H UNISTD_H SYS_PARAM_H SYS_STAT_H SYS_TIME_H SYS_TYPES_H STDINT_H CLOSE GETPID GETTIMEOFDAY \
               OPEN READ SCHED_YIELD STRTOLL ATOMIC_BUILTINS SYNC_BUILTINS LOCALECONV
JANSSON_FLAGS := $(JANSSON_HAS:%=-DHAVE_%) -DUSE_URANDOM -DINITIAL_HASHTABLE_ORDER=3
$(NATIVE)/libjansson.so.4: $(PACKAGE)/jansson/source $(STANDINS)
	$(Q){ echo '$(@F) {'; sed '1s/.*/global:/; s/[a-z0-9_]$$/&;/' $</src/jansson.def; echo 'local: *; };'; } >$(<D)/version.map
	$(Q): >$(<D)/jansson_private_config.h
	$(linked_beside) -w $(JANSSON_FLAGS) -I$(<D) -I$</src -Wl,--version-script=$(<D)/version.map $</src/*.c $(PACKAGE_FLAGS)

$(PACKAGE)/liburcu/source $(PACKAGE)/jansson/source: $(PACKAGE)/%/source: $(NUGET)/source.sh
	$(call say,GET,$@)sh $< $* $(if $(filter liburcu,$*),liburcu-dev,libjansson-dev) $(@D) && touch $@

$(PACKAGE)/obj/%.o: $(NUGET)/%.c
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -c -o $@ $<

$(STANDINS): $(NUGET)/stubs.py
	$(call say,GEN,$@)python3 $< $(GLIBC_FLOOR) $(@D)

$(SHIM): $(wildcard src/managed/shim/*.cs src/managed/shim/*.csproj) src/managed/Directory.Build.props
	$(call say,DOTNET,$@)dotnet msbuild src/managed/shim/shim.csproj -restore -nologo -v:q -nodeReuse:false -p:UseSharedCompilation=false \
	  -p:OutFolder=$(abspath $(PACKAGE)) -p:Version=$(VERSION) && touch $@

nupkg-benchmarkdotnet: MANAGED := Shadowtrace.BenchmarkDotNet
nupkg-shadowtrace: MANAGED := Shadowtrace
nupkg-benchmarkdotnet nupkg-shadowtrace:
	$(call say,PACK,$(MANAGED))dotnet msbuild src/managed/$(MANAGED) -restore -t:Pack -nologo \
	  -v:q -nodeReuse:false -p:UseSharedCompilation=false -p:OutFolder=$(abspath $(PACKAGE)) -p:Version=$(VERSION)

# For tests/e2e/test_nupkg.py, which skips its tests if what the package is made of cannot be had, and fails otherwise.
packed_for_tests = mkdir -p $(PACKAGE) && if $(MAKE) --no-print-directory nupkg >$(PACKAGE)/said 2>&1; then :; \
  else tail -n 3 $(PACKAGE)/said; rm -f $(NUPKG); fi

# ---- End of the .NET tool.

# Where each shell looks for completions of programs that are not its own.
BASH_COMPLETIONS ?= $(PREFIX)/share/bash-completion/completions
ZSH_COMPLETIONS ?= $(PREFIX)/share/zsh/site-functions
FISH_COMPLETIONS ?= $(PREFIX)/share/fish/vendor_completions.d
MAN ?= $(PREFIX)/share/man
DOC ?= $(PREFIX)/share/doc/shadowtrace

install: all
	$(Q)$(MAKE) --no-print-directory install-built

# What is there, without building anything, so that root runs nothing of the build tree but make. install(1) removes the old
# file and creates a new one: a link in its place is not followed. The folders below PREFIX are root's.
install-built:
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/shadowtrace $(DESTDIR)$(PREFIX)/share/shadowtrace \
	  $(DESTDIR)$(PREFIX)/include/shadowtrace/clr
	install -m 755 $(CMD) $(SERVE) $(SHIP) $(DESTDIR)$(PREFIX)/bin/
	install -m 755 $(LIB) $(DESTDIR)$(PREFIX)/lib/shadowtrace/
	install -m 644 $(wildcard include/shadowtrace/*_schema.json) $(DESTDIR)$(PREFIX)/share/shadowtrace/
	install -m 644 $(wildcard include/shadowtrace/*.h) $(DESTDIR)$(PREFIX)/include/shadowtrace/
	install -m 644 $(wildcard include/shadowtrace/clr/*.h) $(DESTDIR)$(PREFIX)/include/shadowtrace/clr/
	install -d $(addprefix $(DESTDIR),$(addprefix $(MAN)/man,1 5 7) $(BASH_COMPLETIONS) $(ZSH_COMPLETIONS) $(FISH_COMPLETIONS) $(DOC))
	install -m 644 $(BUILD)/man1/*.1 $(DESTDIR)$(MAN)/man1/
	install -m 644 $(BUILD)/man5/*.5 $(DESTDIR)$(MAN)/man5/
	install -m 644 $(BUILD)/man7/*.7 $(DESTDIR)$(MAN)/man7/
	install -m 644 $(BUILD)/completion/bash $(DESTDIR)$(BASH_COMPLETIONS)/shadowtrace
	install -m 644 $(BUILD)/completion/zsh $(DESTDIR)$(ZSH_COMPLETIONS)/_shadowtrace
	install -m 644 $(BUILD)/completion/fish $(DESTDIR)$(FISH_COMPLETIONS)/shadowtrace.fish
	install -m 644 README.md LICENSE $(DESTDIR)$(DOC)/

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/shadowtrace $(DESTDIR)$(PREFIX)/bin/shadowtrace-serve $(DESTDIR)$(PREFIX)/bin/shadowtrace-ship \
	  $(DESTDIR)$(MAN)/man1/shadowtrace.1 $(DESTDIR)$(MAN)/man[157]/shadowtrace-*.[157] \
	  $(DESTDIR)$(BASH_COMPLETIONS)/shadowtrace $(DESTDIR)$(ZSH_COMPLETIONS)/_shadowtrace \
	  $(DESTDIR)$(FISH_COMPLETIONS)/shadowtrace.fish
	rm -rf $(DESTDIR)$(PREFIX)/lib/shadowtrace $(DESTDIR)$(PREFIX)/share/shadowtrace \
	  $(DESTDIR)$(PREFIX)/include/shadowtrace $(DESTDIR)$(DOC)

# ---- Packages: the source, and from it a Debian package. Both are the same bytes whenever they are made of the same files.

NAME_VERSION := shadowtrace-$(VERSION)
DIST := $(BUILD)/$(NAME_VERSION).tar.gz
# A source package has no git; what it holds then is all that lies there.
SOURCES = if [ -e .git ]; then git ls-files -z; else find . '(' -path ./build -o -path ./debian -o -name __pycache__ ')' -prune \
  -o -type f -printf '%P\0'; fi

dist:
	@mkdir -p $(BUILD)
	$(call say,TAR,$(DIST)){ $(SOURCES); } | LC_ALL=C sort -z | tar -c --null -T - --transform 's,^,$(NAME_VERSION)/,' --format=gnu \
	  --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime=@$(EPOCH) | gzip -9n >$(DIST).new && mv $(DIST).new $(DIST)

# Who packages says who that is, as for all tools of Debian.
DEBFULLNAME ?= shadowtrace maintainers
DEBEMAIL ?= maintainers@shadowtrace.invalid
DEB_FOLDER := $(abspath $(BUILD))/deb
DEB_SOURCE := $(DEB_FOLDER)/$(NAME_VERSION)
deb: dist
	$(Q)command -v dh >/dev/null || { echo "debhelper is missing: apt-get install debhelper" >&2; exit 1; }
	$(Q)rm -rf $(DEB_FOLDER) && mkdir -p $(DEB_FOLDER) && tar -xzf $(DIST) -C $(DEB_FOLDER)
	$(Q)cp -R $(DEB_SOURCE)/src/package/debian $(DEB_SOURCE)/debian
	$(Q)sed 's/@VERSION@/$(VERSION)/; s/@MAINTAINER@/$(DEBFULLNAME) <$(DEBEMAIL)>/; s/@DATE@/'"$$(LC_ALL=C date -Rud @$(EPOCH))"/ \
	  $(DEB_SOURCE)/debian/changelog.in >$(DEB_SOURCE)/debian/changelog && rm $(DEB_SOURCE)/debian/changelog.in
	$(Q)sed -i 's/@MAINTAINER@/$(DEBFULLNAME) <$(DEBEMAIL)>/' $(DEB_SOURCE)/debian/control
	$(call say,DEB,$(DEB_FOLDER))cd $(DEB_SOURCE) && env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS SOURCE_DATE_EPOCH=$(EPOCH) \
	  dpkg-buildpackage -us -uc -b $(ALL_PROCESSORS) >../log 2>&1 || { tail -30 ../log >&2; exit 1; }
	$(Q)ls $(DEB_FOLDER)/*.deb

clean:
	rm -rf build
