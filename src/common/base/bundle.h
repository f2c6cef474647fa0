/*
 * base/bundle.h - how a program that was published as a single file says where its files are.
 * Source: dotnet/runtime src/native/corehost/apphost/bundle_marker.cpp.
 */
#ifndef SHADOWTRACE_BASE_BUNDLE_H
#define SHADOWTRACE_BASE_BUNDLE_H

/* The SHA-256 of ".net core bundle". Before it: where the header is, 8 bytes; 0: no bundle. */
#define BUNDLE_MARK \
    { \
        0x8b, 0x12, 0x02, 0xb9, 0x6a, 0x61, 0x20, 0x38, 0x72, 0x7b, 0x93, 0x02, 0x14, 0xd7, 0xa0, \
            0x32, 0x13, 0xf5, 0xb9, 0xe6, 0xef, 0xae, 0x33, 0x18, 0xee, 0x3b, 0x2d, 0xce, 0x24, \
            0xb3, 0x6a, 0xae \
    }
#define BUNDLE_MARK_SIZE   32
#define BUNDLE_BEFORE_MARK 8
#define BUNDLE_NEWEST      6 /* version of a header */

#endif
