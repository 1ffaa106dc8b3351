/* A function of a library whose pages let indirect jumps lead to marked
   instructions only. It has another one as its end, in a page of its own that
   has no mark. */

/* More than one branch of aarch64 leads across. */
char huge[256 << 20];

__asm__(".text\n.p2align 12\n.type _Zguarded,%function\n_Zguarded:\n"
        "bti c\nnop\nb _Zunmarked\n.size _Zguarded,.-_Zguarded\n"
        ".p2align 12\n.type _Zunmarked,%function\n_Zunmarked:\n"
        "add w0, w0, #2\nret\n.size _Zunmarked,.-_Zunmarked\n.p2align 12\n");
extern int _Zguarded(int) __attribute__((visibility("hidden")));
struct {
  const char *name;
  int (*function)(int);
} targets[] = {{"_Zguarded", _Zguarded}, {0, 0}};
