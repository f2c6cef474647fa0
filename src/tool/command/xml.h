/* command/xml.h - text in an XML document. */
#ifndef SHADOWTRACE_COMMAND_XML_H
#define SHADOWTRACE_COMMAND_XML_H

#include "base/buffer.h"

/*
 * xml_text - between tags, or in an attribute with double quotes. Characters that XML 1.0 does not
 * allow, and invalid UTF-8, become U+FFFD.
 */
void xml_text(struct buffer *b, const char *text);

#endif
