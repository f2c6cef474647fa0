/* base/name.h - names of methods: "Type.Method(parameters)". */
#ifndef SHADOWTRACE_BASE_NAME_H
#define SHADOWTRACE_BASE_NAME_H

/*
 * The parenthesis that opens the parameters, the end of a name without: those before it belong to
 * type names, as in "Program.<Main>g__F|0_0".
 */
const char *name_parameters(const char *name);

#endif
