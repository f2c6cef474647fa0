// Into native code and back: P/Invoke in its forms, reverse P/Invoke by delegate and by UnmanagedCallersOnly, threads that
// native code makes. Exceptions end before they would leave managed code.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using static Torture.Cases;
using static Torture.Sink;

namespace Torture;

static unsafe partial class Program
{
    const string Lib = "e2enative";

    static int Main(string[] args) => Run(args,
        ("pinvoke", PInvoke),
        ("pinvoke-marshalled", Marshalled),
        ("pinvoke-struct", Struct),
        ("pinvoke-errno", Errno),
        ("pinvoke-hresult", HResult),
        ("pinvoke-missing", Missing),
        ("pinvoke-suppressed", Suppressed),
        ("library-import", Imported),
        ("function-pointer", FunctionPointer),
        ("delegate-for-pointer", DelegateForPointer),
        ("reverse-delegate", ReverseDelegate),
        ("reverse-unmanaged-only", ReverseUnmanagedOnly),
        ("reverse-wide", ReverseWide),
        ("reverse-deep", ReverseDeep),
        ("reverse-alternating", ReverseAlternating),
        ("reverse-throws", ReverseThrows),
        ("reverse-filter", ReverseFilter),
        ("reverse-in-catch", ReverseInCatch),
        ("reverse-in-finally", ReverseInFinally),
        ("reverse-in-filter", ReverseInFilter),
        ("reverse-collect", ReverseCollect),
        ("sort", Sort),
        ("static-constructor", StaticConstructor),
        ("native-threads", NativeThreads),
        ("native-threads-reenter", NativeThreadsReenter),
        ("native-threads-throw", NativeThreadsThrow),
        ("native-threads-many", NativeThreadsMany),
        ("native-thread-destructor*", NativeThreadDestructor),
        ("native-beside-managed", NativeBesideManaged));

    struct Pair
    {
        public int First;
        public double Second;
    }

    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    delegate int Call(int n);

    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    delegate int Wide(int a, long b, double c, float d, int e, long f, double g, int h, int i, long j);

    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    delegate int Compare(IntPtr a, IntPtr b);

    [DllImport(Lib)] static extern int e2e_add(int a, int b);
    [DllImport(Lib, EntryPoint = "e2e_add"), SuppressGCTransition] static extern int AddSuppressed(int a, int b);
    [DllImport(Lib)] static extern int e2e_call(Call call, int n);
    [DllImport(Lib, EntryPoint = "e2e_call")] static extern int CallPointer(delegate* unmanaged<int, int> call, int n);
    [DllImport(Lib)] static extern int e2e_call_times(Call call, int n);
    [DllImport(Lib)] static extern int e2e_call_deep(Call call, int n, int depth);
    [DllImport(Lib)] static extern int e2e_call_wide(Wide call);
    [DllImport(Lib, SetLastError = true)] static extern int e2e_fail_errno(int error);
    [DllImport(Lib, PreserveSig = false)] static extern void e2e_fail_hresult();
    [DllImport(Lib)] static extern int e2e_length([MarshalAs(UnmanagedType.LPUTF8Str)] string text);
    [DllImport(Lib, CharSet = CharSet.Unicode)] static extern int e2e_length_wide(string text);
    [DllImport(Lib)] static extern int e2e_sum(int[] values, int count);
    [DllImport(Lib, CharSet = CharSet.Ansi)] static extern void e2e_fill(System.Text.StringBuilder text, int size);
    [DllImport(Lib)] static extern Pair e2e_pair(Pair p);
    [DllImport(Lib)] static extern IntPtr e2e_pointer();
    [DllImport(Lib)] static extern void e2e_sort(int[] values, int count, Compare compare);
    [DllImport(Lib)] static extern int e2e_threads(delegate* unmanaged<int, int> call, int threads, int calls, int pause);
    [DllImport(Lib, EntryPoint = "e2e_threads")] static extern int ThreadsDelegate(Call call, int threads, int calls, int pause);
    [DllImport(Lib)] static extern int e2e_thread_waves(delegate* unmanaged<int, int> call, int waves, int threads);
    [DllImport(Lib)] static extern int e2e_thread_destructor(delegate* unmanaged<int, int> call, int rounds);
    [DllImport(Lib)] static extern int e2e_no_such_function(int n);
    [DllImport("no-such-library-at-all")] static extern int Nowhere(int n);

    [LibraryImport(Lib, EntryPoint = "e2e_length", StringMarshalling = StringMarshalling.Utf8)]
    private static partial int ImportedLength(string text);

    [LibraryImport(Lib, EntryPoint = "e2e_fail_errno", SetLastError = true)]
    private static partial int ImportedErrno(int error);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Throw(int code)
    {
        Callee();
        throw new TestException(code);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool Accept(bool answer)
    {
        Several();
        return answer;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void PInvoke()
    {
        for (int i = 0; i < 10; i++)
        {
            Check(e2e_add(i, 2) == i + 2);
            Callee();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Marshalled()
    {
        Check(e2e_length("four") == 4);
        Callee();
        Check(e2e_length_wide("seven!!") == 7);
        Check(e2e_sum(new[] { 1, 2, 3 }, 3) == 6);
        var text = new System.Text.StringBuilder(20);
        e2e_fill(text, 20);
        Check(text.Length == 19);
        Several();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Struct()
    {
        Pair p = e2e_pair(new Pair { First = 1, Second = 2.5 });
        Check(p.First == 2 && p.Second == 5.0);
        Keep(p);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Errno()
    {
        for (int i = 1; i < 20; i++)
        {
            Check(e2e_fail_errno(i) == -1);
            Check(Marshal.GetLastPInvokeError() == i); /* a hook between the call and the read must not change it */
            Callee();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void HResult()
    {
        try
        {
            e2e_fail_hresult(); /* thrown by the stub */
            Check(false);
        }
        catch (COMException e) when (Accept(e.HResult == unchecked((int)0x80004005)))
        {
            Several();
        }
        finally
        {
            Callee();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Missing()
    {
        try
        {
            e2e_no_such_function(1);
            Check(false);
        }
        catch (EntryPointNotFoundException)
        {
            Several();
        }
        try
        {
            Nowhere(1);
            Check(false);
        }
        catch (DllNotFoundException) when (Accept(true))
        {
            Several();
        }
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Suppressed()
    {
        Check(AddSuppressed(3, 4) == 7);
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Imported()
    {
        Check(ImportedLength("imported") == 8);
        Callee();
        Check(ImportedErrno(33) == -1);
        Check(Marshal.GetLastPInvokeError() == 33);
        Several();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void FunctionPointer()
    {
        var twice = (delegate* unmanaged<int, int>)e2e_pointer();
        Check(twice(21) == 42);
        Callee();
        delegate*<int, void> managed = &Throw;
        try
        {
            managed(4);
        }
        catch (TestException)
        {
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void DelegateForPointer()
    {
        var twice = Marshal.GetDelegateForFunctionPointer<Call>(e2e_pointer());
        Check(twice(4) == 8);
        Callee();
        Call own = Increment;
        IntPtr pointer = Marshal.GetFunctionPointerForDelegate(own);
        Check(Marshal.GetDelegateForFunctionPointer<Call>(pointer)(1) == 2);
        Check(((delegate* unmanaged<int, int>)pointer)(5) == 6);
        GC.KeepAlive(own);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Increment(int n)
    {
        Several();
        return n + 1;
    }

    [UnmanagedCallersOnly]
    static int IncrementUnmanaged(int n)
    {
        Several();
        return n + 1;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ReverseDelegate()
    {
        Check(e2e_call(Increment, 1) == 3);
        int captured = 5;
        Check(e2e_call(n =>
        {
            Several();
            return n + captured;
        }, 1) == 7);
        Check(e2e_call_times(Increment, 5) == 15);
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ReverseUnmanagedOnly()
    {
        for (int i = 0; i < 5; i++)
            Check(CallPointer(&IncrementUnmanaged, i) == i + 2);
        delegate* unmanaged<int, int> self = &IncrementUnmanaged;
        Check(self(1) == 2); /* straight to it, without native code between */
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int OnWide(int a, long b, double c, float d, int e, long f, double g, int h, int i, long j)
    {
        Several();
        Check(c == 3.0 && d == 4.0f && g == 7.0);
        return (int)(a + b + c + d + e + f + g + h + i + j);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ReverseWide()
    {
        Check(e2e_call_wide(OnWide) == 55);
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ReverseDeep()
    {
        Check(e2e_call_deep(Increment, 1, 30) == 2);
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Alternate(int n)
    {
        Callee();
        if (n == 0)
            return 0;
        return n % 2 == 0 ? e2e_call(Alternate, n - 1) : CallPointer(&AlternateUnmanaged, n - 1);
    }

    [UnmanagedCallersOnly]
    static int AlternateUnmanaged(int n)
    {
        Callee();
        return n == 0 ? 0 : e2e_call_deep(Alternate, n - 1, 3);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ReverseAlternating()
    {
        Check(Alternate(16) > 0);
        Several();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Descend(int depth)
    {
        Callee();
        try
        {
            if (depth == 0)
                Throw(1);
            Descend(depth - 1);
        }
        finally
        {
            Callee();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int ThrowAndCatch(int n)
    {
        try
        {
            Descend(n);
        }
        catch (TestException) when (Accept(true))
        {
            Several();
        }
        return n;
    }

    [UnmanagedCallersOnly]
    static int ThrowAndCatchUnmanaged(int n)
    {
        try
        {
            Descend(n);
        }
        catch (TestException)
        {
            Several();
        }
        Callee();
        return n;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ReverseThrows()
    {
        for (int i = 0; i < 5; i++)
        {
            Check(e2e_call(ThrowAndCatch, i) == i + 1);
            Check(CallPointer(&ThrowAndCatchUnmanaged, i) == i + 1);
            Callee();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool NativeFilter(int n)
    {
        Callee();
        return e2e_call(ThrowAndCatch, n) == n + 1;
    }

    /* The handlers above the native frames see nothing of what ends below them. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ReverseFilter()
    {
        try
        {
            try
            {
                Check(e2e_call(ThrowAndCatch, 3) == 4);
                Throw(2);
            }
            catch (TestException) when (NativeFilter(2))
            {
                Several();
                throw;
            }
        }
        catch (TestException e) when (Accept(e.Code == 2))
        {
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ReverseInCatch()
    {
        try
        {
            Throw(1);
        }
        catch (TestException)
        {
            Check(e2e_call(ThrowAndCatch, 4) == 5);
            Check(CallPointer(&ThrowAndCatchUnmanaged, 4) == 5);
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ReverseInFinally()
    {
        try
        {
            try
            {
                Throw(1);
            }
            finally
            {
                Check(e2e_call(ThrowAndCatch, 4) == 5);
                Several();
                Check(CallPointer(&ThrowAndCatchUnmanaged, 2) == 3);
            }
        }
        catch (TestException)
        {
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ReverseInFilter()
    {
        try
        {
            Descend(3);
        }
        catch (TestException) when (e2e_call(ThrowAndCatch, 2) == 3 && CallPointer(&ThrowAndCatchUnmanaged, 2) == 3)
        {
            Several();
        }
    }

    [UnmanagedCallersOnly]
    static int Collect(int n)
    {
        Several();
        GC.Collect(n % 3);
        Several();
        return n;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ReverseCollect()
    {
        Check(CallPointer(&Collect, 0) == 1);
        Check(CallPointer(&Collect, 2) == 3);
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Sort()
    {
        var values = new int[40];
        for (int i = 0; i < values.Length; i++)
            values[i] = i * 7919 % 41;
        e2e_sort(values, values.Length, (a, b) =>
        {
            Callee();
            return Marshal.ReadInt32(a).CompareTo(Marshal.ReadInt32(b));
        });
        for (int i = 1; i < values.Length; i++)
            Check(values[i - 1] <= values[i]);
    }

    static class Bad
    {
        public static readonly int Value;

        static Bad()
        {
            Value = e2e_call(ThrowAndCatch, 2);
            Throw(Value);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int TouchBad(int n)
    {
        try
        {
            return Bad.Value;
        }
        catch (TypeInitializationException)
        {
            Several();
            return n;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void StaticConstructor()
    {
        Check(e2e_call(TouchBad, 6) == 7);
        Callee();
    }

    static int entered;

    [UnmanagedCallersOnly]
    static int OnNativeThread(int n)
    {
        Interlocked.Increment(ref entered);
        Several();
        return 1;
    }

    [UnmanagedCallersOnly]
    static int OnNativeThreadThrowing(int n)
    {
        try
        {
            Several();
            Descend(n % 4);
        }
        catch (TestException) when (Accept(true))
        {
            Callee();
        }
        return 1;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void NativeThreads()
    {
        Check(e2e_threads(&OnNativeThread, 4, 20, 0) == 80);
        Check(ThreadsDelegate(n =>
        {
            Several();
            return 1;
        }, 3, 10, 0) == 30);
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void NativeThreadsReenter()
    {
        Check(e2e_threads(&OnNativeThread, 3, 10, 500) == 30);
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void NativeThreadsThrow()
    {
        Check(e2e_threads(&OnNativeThreadThrowing, 3, 12, 0) == 36);
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void NativeThreadsMany()
    {
        Check(e2e_thread_waves(&OnNativeThread, 20, 8) == 160);
        Callee();
    }

    /* The runtime keeps a Thread for what enters that late, and a collection afterwards may crash on it, unprofiled too. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void NativeThreadDestructor()
    {
        Check(e2e_thread_destructor(&OnNativeThread, 1) == 1);
        Check(e2e_thread_destructor(&OnNativeThreadThrowing, 3) == 3);
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void NativeBesideManaged()
    {
        bool stop = false;
        var managed = new Thread(() =>
        {
            while (!Volatile.Read(ref stop))
            {
                ThrowAndCatch(3);
                Thread.Yield();
            }
        });
        managed.Start();
        Check(e2e_threads(&OnNativeThreadThrowing, 2, 20, 50) == 40);
        Volatile.Write(ref stop, true);
        managed.Join();
    }
}
