using System;

namespace Shapes;

public partial class Shapes<T>
{
    private readonly int counted = Environment.TickCount; // initialisers of one constructor from two files

    public int Counted
    {
        get
        {
            return counted;
        }
    }
}
