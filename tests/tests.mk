# The rules of tests, benchmarks and lint. Included by the Makefile.

.PHONY: check check-all test-programs unit fuzz fuzz-programs negative packed e2e-programs copies soak demo bench
.PHONY: lint lint-sources

# ---- One program per tests/unit/ROOM/test_*.c, linked with every object but main(). The code that tests share
# (tests/support, and the other .c files of tests/unit) is compiled once; it has main().

UNIT_SRC := $(wildcard tests/unit/*/test_*.c tests/unit/*/$(CPU)/test_*.c)
UNIT := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(UNIT_SRC))
SUPPORT_SRC := $(wildcard tests/support/*.c tests/support/$(CPU)/*.S) \
               $(filter-out $(UNIT_SRC),$(wildcard tests/unit/*/*.c))
SUPPORT := $(BUILD)/libsupport.a
FUZZ := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
# The decoder of machine code that the tracer's is compared with. It has no .pc file.
ZYDIS := $(if $(wildcard $(SYSROOT)/usr/include/Zydis/Zydis.h),-lZydis)
LIBS_TEST := $(sort $(LIBS_LIB) $(LIBS_SHARED)) $(call libs,cmocka) $(ZYDIS)
TESTED := $(SUPPORT) $(BUILD)/liball.a

$(BUILD)/liball.a: $(ALL_OBJ)
$(SUPPORT): $(patsubst %,$(BUILD)/obj/%.o,$(basename $(SUPPORT_SRC)))

test_command = $(call say,LD,$@)$(CC) $(CPPFLAGS_ALL) $(SEES_all) $(CFLAGS_ALL) $(OPT_TESTS) -Itests \
               -MMD -MP -MF $@.d -MT $@ -o $@ \
               $< $(filter %.o,$^) $(filter %.a,$^) $(LDFLAGS_ALL) $(LIBS_TEST)

$(BUILD)/unit/%: tests/unit/%.c $(TESTED) $(BUILD)/linked_with
	@mkdir -p $(@D)
	$(test_command)

$(BUILD)/fuzz/%: tests/fuzz/%.c $(BUILD)/obj/tests/fuzz/driver.o $(TESTED) $(BUILD)/linked_with
	@mkdir -p $(@D)
	$(test_command)

-include $(wildcard $(BUILD)/unit/*/*.d $(BUILD)/unit/*/$(CPU)/*.d $(BUILD)/fuzz/*.d)

# Linked in place of those that the command has: they are compiled with one more view.
$(BUILD)/unit/views/test_new_view: $(patsubst tests/%.c,$(BUILD)/obj/tests/%.o,$(wildcard tests/unit/views/new_view/*.c))

# Both need cmocka.
unit: $(if $(CMOCKA),$(UNIT) $(FUZZ))

# ---- make check.

# With SAN, only unit tests and corpora run: a sanitized library cannot be loaded into an unsanitized `dotnet`.
check: test-programs
	$(Q)python3 tests/check.py $(BUILD) $(if $(SAN),--only unit --only fuzz)

# Everything that tests run. MSBuild keeps one processor busy, so it runs next to the C compiler.
test-programs: deps-tests
	$(Q)$(MAKE) $(ALL_PROCESSORS) $(if $(SAN),,e2e-programs) all unit
	$(Q)$(if $(SAN),,$(MAKE) $(ALL_PROCESSORS) negative packed)

# A program that does not build fails the tests that need it.
e2e-programs:
	$(Q)SHADOWTRACE_BUILD=$(abspath $(BUILD)) python3 tests/e2e/run.py --build || :

packed:
	$(Q)sh src/package/nuget/for_tests.sh $(PACKAGE) $(NUPKG) $(MAKE) nupkg

# FRESH=1: also the lanes that passed on these sources.
check-all: $(if $(LIST),,test-programs)
	$(Q)python3 tests/lanes.py $(BUILD) $(LANE:%=--lane %) $(if $(FRESH),--fresh) $(if $(LIST),--list)

# What the negative controls of tests/e2e run: tests do not build in build/.
NEGATIVES := libshadowtrace.so $(if $(CMOCKA),unit/stack/test_copies unit/live/test_live)
negative:
	$(Q)$(MAKE) NEGATIVE=1 $(NEGATIVES:%=build/negative/%)

# ---- Long runs.

FUZZ_INPUTS ?= 1000000
FUZZ_SEED ?= 1
fuzz:
	$(Q)$(MAKE) SAN=address,undefined FUZZING=1 fuzz-programs
	$(Q)sh tests/fuzz/run.sh build/san-address-undefined/fuzzing/fuzz $(FUZZ_INPUTS) $(FUZZ_SEED)

fuzz-programs: $(FUZZ)

SOAK_SECONDS ?= 1200
soak: deps
	$(Q)$(MAKE) all
	$(Q)python3 tests/e2e/soak.py --seconds $(SOAK_SECONDS)

# Copies all stacks 100,000 times while threads call, throw, grow their stacks and end. Exit status 77: cannot run.
copies: $(if $(CMOCKA),$(BUILD)/unit/stack/test_copies)
	$(Q)$(if $(CMOCKA),COPIES=100000 SECONDS=3600 $<,echo 'cannot run: cmocka is not installed'; exit 77)

# The lines of a small program, then those of the C# compiler, and how exact its stacks are.
demo: deps
	$(Q)$(MAKE) all
	$(Q)SHADOWTRACE_BUILD=$(abspath $(BUILD)) sh examples/demo.sh

bench: deps
	$(Q)$(MAKE) all
	$(Q)python3 tests/bench/bench.py $(abspath $(BUILD)) $(if $(BENCH_QUICK),--quick) $(BENCH_ONLY:%=--only %)

# ---- Style.

lint-sources:
	$(Q)python3 tests/lint.py --objects $(BUILD)/obj

LINT := $(addsuffix /*.[ch],src/*/* src/*/*/* hooks hooks/* include/shadowtrace include/shadowtrace/* tests/* \
        tests/unit/* tests/unit/*/*)
TIDY := $(wildcard $(addsuffix /*.c,src/*/* src/*/*/$(CPU) hooks hooks/$(CPU)))
lint: lint-sources
	$(call need,clang-format,clang-format)$(Q)clang-format --dry-run --Werror $(wildcard $(LINT))
	$(call need,clang-tidy,clang-tidy)$(Q)clang-tidy --quiet $(TIDY) -- \
	  -std=c11 $(CPPFLAGS_ALL) $(SEES_all) $(PKG_CFLAGS)
