# For arm64: compiled with Debian's cross compiler and its libraries of that architecture. ARM64_GOALS: all.
ARM64 := build/aarch64
ARM64_LIBRARIES := libc6 liburcu libjansson zlib1g libzstd libelf libunwind libcmocka
.PHONY: arm64
arm64: $(ARM64)/sysroot/done
	$(Q)PKG_CONFIG_LIBDIR=$(CURDIR)/$(<D)/usr/lib/aarch64-linux-gnu/pkgconfig \
	  PKG_CONFIG_SYSROOT_DIR=$(CURDIR)/$(<D) \
	  $(MAKE) CROSS=aarch64-linux-gnu- SYSROOT=$(CURDIR)/$(<D) $(or $(ARM64_GOALS),all)

$(ARM64)/sysroot/done $(ARM64)/sysroot-deb/done: src/package/cross/sysroot.sh
	$(call say,GET,$(@D))sh $< arm64 $(@D) $(ARM64_LIBRARIES:%=%-dev) libstdc++6 libgcc-s1 && touch $@

# The Debian package, with the programs that need an HTTP server and client.
.PHONY: deb-arm64
$(ARM64)/sysroot-deb/done: ARM64_LIBRARIES += libmicrohttpd libcurl4-openssl
deb-arm64: dist $(ARM64)/sysroot-deb/done
	$(call need,dh,debhelper)$(call need,aarch64-linux-gnu-gcc,gcc-aarch64-linux-gnu)$(call say,DEB,$(ARM64)/deb)\
	  SYSROOT=$(abspath $(ARM64)/sysroot-deb) sh src/package/debian.sh $(abspath $(ARM64))/deb \
	  $(abspath $(DIST)) $(VERSION) $(EPOCH) $(ALL_PROCESSORS) -aarm64 -d
