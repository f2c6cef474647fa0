# shadowtrace: one non-recursive build. Wildcards find sources, tests and examples; all output goes to build/.
#
#   make            the library and the command
#   make demo       record a small program and the C# compiler, and show their lines
#   make check      run every test
#   make check-all  also the long runs; LIST=1 lists them, LANE="kills soak" runs these two
#   make soak       record a server under load for 20 minutes (SOAK_SECONDS), with random faults
#   make fuzz       a million mutated inputs for each reader (FUZZ_INPUTS, FUZZ_SEED), under sanitizers
#   make bench      the cost of each way to capture: 28 minutes; BENCH_QUICK=1: 5; BENCH_ONLY="fsc kestrel": these two
#   make lint       levels, circles, sizes and words (tests/lint.py), clang-format, clang-tidy
#   make install    PREFIX=/usr/local DESTDIR=; make uninstall removes the same files
#   make dist       build/shadowtrace-VERSION.tar.gz, the source
#   make deb        build/deb/shadowtrace_VERSION_*.deb, a Debian package
#   make deb-arm64  the same for arm64, in build/aarch64/deb, with a cross compiler
#   make nupkg      build/package: a package for `dotnet tool install`, and its symbols
#   make arm64      the library and the command for arm64, in build/aarch64, with a cross compiler
#   make nupkg-benchmarkdotnet   the package of [ShadowtraceDiagnoser]
#   make nupkg-shadowtrace       the package of Allocations.Assert
#
# demo, check and bench install missing Debian packages first; with OFFLINE=1 nothing is installed or downloaded.
# V=1 shows the commands. SAN=address,undefined (or SAN=thread) builds with sanitizers, in a separate directory.
# NEGATIVE=1 builds, in build/negative, a library in which SHADOWTRACE_WITHOUT=RULE disables one rule of the stack.
# tests/tests.mk has the rules of tests, src/package/package.mk those of installation, packages and what they need.

V ?= 0
SAN ?=
# CROSS=aarch64-linux-gnu- compiles for that CPU, with the libraries in SYSROOT: `make arm64` sets both.
CROSS ?=
CC := $(if $(CROSS),$(CROSS)gcc $(SYSROOT:%=--sysroot=%),$(CC))
AR := $(if $(CROSS),$(CROSS)ar,$(AR))
CPU := $(firstword $(subst -, ,$(or $(CROSS),$(shell uname -m))))
VERSION := 0.1.0

comma := ,
SAN_FOLDER := $(if $(SAN),/san-$(subst $(comma),-,$(SAN)))
BUILD := build$(if $(CROSS),/$(CPU))$(SAN_FOLDER)$(if $(FUZZING),/fuzzing)$(if $(NEGATIVE),/negative)
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' '$(1)' '$(2)';)
MAKEFLAGS += --no-print-directory
# Unless the user sets a number of jobs, there are as many as processors.
ALL_PROCESSORS = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

# Three wings: src/tracer/ runs inside the traced process, src/tool/ is the command, src/common/ serves both. Tracer and
# tool never include each other: each wing sees itself and src/common/, and src/common/ sees only itself.
# src/package/ creates packages; its program reads the command's tables and is not installed.
WINGS := tracer tool common package
SEES_tracer := -Isrc/tracer -Isrc/common -I.
SEES_tool := -Isrc/tool -Isrc/common
SEES_common := -Isrc/common
SEES_package := -Isrc/package $(SEES_tool)
SEES_all := $(WINGS:%=-Isrc/%) -I.

# shadowtrace-serve and shadowtrace-ship are built only if their library is installed.
PKGS_LIB := liburcu-memb jansson
PKGS_CMD := jansson zlib libzstd libelf
PKG_SERVE := $(shell pkg-config --exists libmicrohttpd 2>/dev/null && echo libmicrohttpd)
PKG_SHIP := $(shell pkg-config --exists libcurl 2>/dev/null && echo libcurl)
CMOCKA := $(shell pkg-config --exists cmocka 2>/dev/null && echo cmocka)
libs = $(if $(1),$(shell pkg-config --libs $(1) 2>/dev/null))

WARN := -Wall -Wextra -Wconversion -Wshadow -Wundef -Wvla -Wcast-qual -Wstrict-prototypes -Wmissing-prototypes
ifneq ($(WERROR),)
WARN += -Werror
endif
OPT ?= -O2 -g
# Tests compile in half the time, and the library of the negative controls in less. The code that tests call is compiled
# as it is shipped.
OPT_TESTS := $(if $(filter -O2,$(OPT)),-O0)
OPT_NEGATIVE := $(if $(filter -O2,$(OPT)),-O1)
# TLS descriptors: glibc places the library's thread-local data in static TLS if there is room. musl has no room for a
# library that is loaded later, and refuses the initial-exec model (hooks/x86_64/near.c). On arm64 compilers use
# descriptors by default.
TLS := -ftls-model=global-dynamic $(if $(filter x86_64,$(CPU)),-mtls-dialect=gnu2)
FOR_FUZZING := $(if $(FUZZING),-fsanitize-coverage=trace-pc '-DREPORT_LINE_MAX=((size_t)16384)')
PKG_CFLAGS := $(shell pkg-config --cflags $(sort $(PKGS_LIB) $(PKGS_CMD) $(PKG_SERVE) $(PKG_SHIP)) 2>/dev/null)
CPPFLAGS_ALL = -D_GNU_SOURCE -DSHADOWTRACE_VERSION='"$(VERSION)"' -Iinclude -I$(BUILD)/gen $(RULES_OFF) $(CPPFLAGS)
CFLAGS_ALL = -std=c11 $(OPT) $(WARN) -fPIC -fvisibility=hidden -fno-omit-frame-pointer $(TLS) \
             $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=undefined) $(FOR_FUZZING) \
             $(if $(findstring thread,$(SAN)),-Wno-tsan) $(PKG_CFLAGS) $(CFLAGS)
LDFLAGS_ALL = $(if $(SAN),-fsanitize=$(SAN)) $(LDFLAGS)
LIBS_LIB := $(call libs,$(PKGS_LIB)) -lpthread -ldl -lm
LIBS_SHARED := $(call libs,$(PKGS_CMD)) -lpthread -lm
# Libraries that `record` does not use are linked statically if there is an archive: the command starts 0.2 ms sooner.
# SHARED=1 links them all dynamically, for distributions, which patch a library in one place.
archive = $(if $(SHARED),-l$(1),$(firstword $(wildcard $(shell $(CC) -print-file-name=lib$(1).a)) -l$(1)))
LIBS_CMD := $(foreach lib,elf zstd z,$(call archive,$(lib))) $(LIBS_SHARED)

# NEGATIVE=1 recompiles only code that knows the rules (it includes stack_hot.h). The rest comes from the plain build.
RULE_DIRS := live heap stack thread alloc values events check select profiler walk
PLAIN := $(BUILD:%/negative=%)
RULE_SRC := $(wildcard $(RULE_DIRS:%=src/tracer/%/*.c))
object = $(if $(filter $(RULE_SRC),$(1)),$(BUILD),$(PLAIN))/obj/$(1:.c=.o)
objects = $(foreach file,$(wildcard $(1:%=src/%/*.c) $(1:%=src/%/$(CPU)/*.c)),$(call object,$(file)))
HOOK_OBJ := $(patsubst %,$(BUILD)/obj/%.o,$(basename $(wildcard hooks/*.c hooks/$(CPU)/*.[cS])))
LIB_OBJ := $(filter-out %/offsets.o,$(call objects,tracer/*)) $(HOOK_OBJ)
COMMON_OBJ := $(call objects,common/*)
TOOL_OBJ := $(call objects,tool/*)
CMD_OBJ := $(filter-out $(call objects,$(addprefix tool/,job server shipper)),$(TOOL_OBJ))
SERVE_OBJ := $(filter %/server/main.o %/server/http.o,$(TOOL_OBJ))
SHIP_OBJ := $(filter %/shipper/main.o %/shipper/http.o,$(TOOL_OBJ))
SHARED_OBJ := $(filter-out %/cli/main.o $(SERVE_OBJ) $(SHIP_OBJ),$(TOOL_OBJ))
# The objects of `make nupkg` are compiled there.
PACKAGE_OBJ := $(filter-out %/nuget/glibc.o %/nuget/start.o,$(call objects,package/*))
TESTED_OBJ := $(filter-out %/generate/main.o %/shipper/send.o,$(SHARED_OBJ) $(PACKAGE_OBJ))
ALL_OBJ := $(sort $(LIB_OBJ) $(COMMON_OBJ) $(TESTED_OBJ))

LIB := $(BUILD)/libshadowtrace.so
CMD := $(BUILD)/shadowtrace
SERVE := $(if $(PKG_SERVE),$(BUILD)/shadowtrace-serve)
SHIP := $(if $(PKG_SHIP),$(BUILD)/shadowtrace-ship)
SCHEMA := $(BUILD)/log_schema.json
GENERATE := $(BUILD)/generate
COMMON := $(PLAIN)/libcommon.a
LIBTOOL := $(BUILD)/libtool.a
MANUAL := $(BUILD)/man1/shadowtrace.1
COMPLETIONS := $(addprefix $(BUILD)/completion/,bash zsh fish)

.PHONY: all pages clean FORCE
.DELETE_ON_ERROR:
.SECONDARY:

# The program that makes manual pages and completions runs during the build; they are the same for each CPU.
all: $(LIB) $(CMD) $(SERVE) $(SHIP) $(SCHEMA) $(if $(CROSS),,pages)
pages: $(MANUAL) $(COMPLETIONS)

clean:
	rm -rf build

# ---- The flags of the last build: what was compiled or linked with other flags is rebuilt.

COMPILED_WITH = $(CC) $(filter-out -I$(BUILD)/gen,$(CPPFLAGS_ALL)) $(CFLAGS_ALL) \
                $(foreach wing,$(WINGS),$(FLAGS_$(wing)))
LINKED_WITH = $(CC) $(LDFLAGS_ALL) $(LIBS_LIB) $(LIBS_CMD) $(call libs,$(PKG_SERVE)) $(call libs,$(PKG_SHIP))

# stamp(file, flags)
define stamp
$(1): $(if $(findstring <$(strip $(file <$(1)))>,<$(strip $(2))>),,FORCE)
	@mkdir -p $$(@D) && printf '%s\n' '$(subst ','\'',$(strip $(2)))' >$$@
endef
FOLDERS := $(sort $(BUILD) $(PLAIN))
$(foreach folder,$(FOLDERS),$(eval $(call stamp,$(folder)/compiled_with,$(COMPILED_WITH))))
$(foreach folder,$(FOLDERS),$(eval $(call stamp,$(folder)/linked_with,$(LINKED_WITH))))

# ---- Linking.

parts = $(filter %.o %.a,$^)
link_command = $(call say,LD,$@)$(CC) -o $(1) $(LDFLAGS_ALL) -Wl,--as-needed $(parts) $(LIBS_CMD)

# Replaced by a rename: processes that have the library mapped keep the old file. Code and constants share pages, so
# there is less to map at startup.
LIB_FLAGS := -Wl,-soname,libshadowtrace.so -Wl,-z,now,-z,relro,-z,noseparate-code -Wl,--no-undefined
$(LIB): $(LIB_OBJ) $(COMMON) $(BUILD)/linked_with
	$(call say,LD,$@)$(CC) -shared -o $@.new $(LDFLAGS_ALL) $(LIB_FLAGS) $(parts) $(LIBS_LIB)
	$(Q)tests/tls-size $@.new && mv -f $@.new $@

$(CMD): $(CMD_OBJ) $(COMMON) $(BUILD)/linked_with
	$(call link_command,$@)

# Separate executables: only they need an HTTP server or client.
$(BUILD)/shadowtrace-serve: $(SERVE_OBJ) $(LIBTOOL) $(COMMON) $(BUILD)/linked_with
	$(call link_command,$@.new) $(call libs,$(PKG_SERVE))
	$(Q)mv -f $@.new $@

$(BUILD)/shadowtrace-ship: $(SHIP_OBJ) $(LIBTOOL) $(COMMON) $(BUILD)/linked_with
	$(call link_command,$@.new) $(call libs,$(PKG_SHIP))
	$(Q)mv -f $@.new $@

# Archives: each program links only the members that it uses.
$(COMMON): $(COMMON_OBJ)
$(LIBTOOL): $(SHARED_OBJ)
$(COMMON) $(LIBTOOL) $(BUILD)/liball.a $(BUILD)/libsupport.a:
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $^

$(SCHEMA): include/shadowtrace/log_schema.json
	$(Q)mkdir -p $(@D) && cp $< $@

# ---- Manual pages and completions: a program prints them from the command's tables.

$(GENERATE): $(PACKAGE_OBJ) $(filter-out %/cli/main.o,$(CMD_OBJ)) $(COMMON) $(BUILD)/linked_with
	$(call link_command,$@)

# The date of pages and packages: of the last commit or, in a source package, which has no git, of its files.
EPOCH = $(or $(SOURCE_DATE_EPOCH),$(if $(wildcard .git),$(shell git log -1 --format=%ct 2>/dev/null)),\
             $(shell stat -c %Y Makefile))

$(MANUAL): DATE = $(shell date -u -d @$(EPOCH) +%F)
$(MANUAL): $(GENERATE) src/package/manual/pages.py $(wildcard src/manual/*.md)
	$(call say,GEN,$(@D))rm -rf $(BUILD)/man[157] && mkdir -p $(@D) && $(GENERATE) manual $(@D) $(DATE)
	$(Q)python3 src/package/manual/pages.py $(VERSION) $(DATE) $(BUILD) src/manual/*.md

$(COMPLETIONS): $(BUILD)/completion/%: src/package/completion/%.sh $(GENERATE)
	@mkdir -p $(@D)
	$(call say,GEN,$@)$(GENERATE) $* >$@ && cat $< >>$@

# ---- Compiling.

# compiled(build folder, sources, what they may include)
define compiled
$(1)/obj/$(2)%.o: $(2)%.c $(1)/compiled_with
	@mkdir -p $$(@D)
	$$(call say,CC,$$<)$$(CC) $$(CPPFLAGS_ALL) $(3) $$(CFLAGS_ALL) -MMD -MP -c -o $$@ $$<
endef
$(foreach folder,$(FOLDERS),\
  $(foreach wing,$(WINGS),$(eval $(call compiled,$(folder),src/$(wing)/,$(SEES_$(wing)) $(FLAGS_$(wing)))))\
  $(eval $(call compiled,$(folder),hooks/,$(SEES_tracer)))$(eval $(call compiled,$(folder),tests/,$(SEES_all) -Itests)))

ifneq ($(NEGATIVE),)
$(BUILD)/%: private RULES_OFF := -DSHADOWTRACE_NEGATIVE
$(BUILD)/%: private CFLAGS_ALL += $(OPT_NEGATIVE)
endif
$(BUILD)/obj/tests/%.o: CFLAGS_ALL += $(OPT_TESTS)

# Hooks call the first, and their stubs do not save vector registers around it. The others read thread-local data, also
# where the dynamic linker changes vector registers for that (hooks/elt.h); tests/thread-data knows them.
GENERAL_REGISTERS := hooks/calls_hot $(addprefix src/,common/options/json tracer/rcu/grace tracer/select/selection \
                     tracer/stack/registry tracer/stack/slow)
$(GENERAL_REGISTERS:%=$(BUILD)/obj/%.o): CFLAGS_ALL += -mgeneral-regs-only

$(BUILD)/obj/%.o: %.S $(BUILD)/gen/stack_offsets.h $(BUILD)/compiled_with
	@mkdir -p $(@D)
	$(call say,AS,$<)$(CC) $(CPPFLAGS_ALL) $(SEES_tracer) -MMD -MP -c -o $@ $<

# Offsets of structure members for the assembly: the compiler writes them into the text of offsets.c.
$(BUILD)/gen/stack_offsets.h: $(addprefix src/tracer/stack/,offsets.c stack_hot.h stack.h) $(BUILD)/compiled_with
	@mkdir -p $(@D)
	$(call say,GEN,$@)$(CC) $(CPPFLAGS_ALL) $(SEES_tracer) $(filter-out -fsanitize=%,$(CFLAGS_ALL)) -S -o $@.s $<
	$(Q)sed -n 's/^.*->\([A-Z_]*\) \([0-9]*\).*$$/#define \1 \2/p' $@.s >$@

# Files that are embedded into the command.
$(PLAIN)/obj/src/tool/validate/schema_text.o: include/shadowtrace/log_schema.json
$(PLAIN)/obj/src/tool/gate/schema_text.o: include/shadowtrace/budget_schema.json
$(PLAIN)/obj/src/tool/page/files.o: $(wildcard src/tool/page/*.html src/tool/page/*.css src/tool/page/js/*.js)

-include $(shell find $(FOLDERS:%=%/obj) -name '*.d' 2>/dev/null)

include tests/tests.mk src/package/package.mk src/package/cross/cross.mk
