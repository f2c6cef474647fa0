public class Base
{
}
