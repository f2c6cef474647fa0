# For arm64: compiled with Debian's cross compiler and its libraries of that architecture. ARM64_GOALS: all.
ARM64 := build/aarch64
ARM64_LIBRARIES := libc6 liburcu libjansson zlib1g libzstd libelf libunwind libcmocka
.PHONY: arm64
arm64: $(ARM64)/sysroot/done
	$(Q)PKG_CONFIG_LIBDIR=$(CURDIR)/$(<D)/usr/lib/aarch64-linux-gnu/pkgconfig \
	  PKG_CONFIG_SYSROOT_DIR=$(CURDIR)/$(<D) \
	  $(MAKE) CROSS=aarch64-linux-gnu- SYSROOT=$(CURDIR)/$(<D) $(or $(ARM64_GOALS),all)

$(ARM64)/sysroot/done: src/package/cross/sysroot.sh
	$(call say,GET,$(@D))sh $< arm64 $(@D) $(ARM64_LIBRARIES:%=%-dev) libstdc++6 libgcc-s1 && touch $@
