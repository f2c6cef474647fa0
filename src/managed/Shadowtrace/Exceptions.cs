using System;

namespace Shadowtrace;

/// <summary>More was allocated than was allowed; the message has the call sites.</summary>
public sealed class AllocationException(string message) : Exception(message);

/// <summary>What was asked is known only of a process that is recorded.</summary>
public sealed class NotTracedException(string message) : InvalidOperationException(message);
