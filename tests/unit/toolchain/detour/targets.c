/* Functions with the first instructions that are hard to move. None is exported
   but the table of their addresses. */

static volatile int number = 40;

#ifdef HUGE
/* More than one branch of aarch64 leads across. */
char huge[256 << 20];
#endif

#define HIDDEN(name)                                                           \
  __attribute__((noinline, visibility("hidden"))) int name(int x)

#if defined(__x86_64__)
#define FUNCTION(name, body)                                                   \
  __asm__(".text\n.p2align 4\n.type " name ",@function\n" name ":\n" body      \
          ".size " name ",.-" name "\n.p2align 4\n");
__asm__(".data\n_Zword: .long 2\n");
FUNCTION("_Zrelative",
         "lea _Zword(%rip), %rax\nmov (%rax), %eax\nadd %edi, %eax\nret\n")
FUNCTION(
    "_Zcompare",
    "cmpl $2, _Zword(%rip)\nsete %al\nmovzx %al, %eax\nadd %edi, %eax\nret\n")
FUNCTION(
    "_Zbranch",
    "test %edi, %edi\nje 1f\nlea 2(%rdi), %eax\nret\n1: mov $7, %eax\nret\n")
FUNCTION("_Zjump", "jmp _Zrelative\n")
FUNCTION("_Zcall", "push %rbx\ncall _Zrelative\npop %rbx\nret\n")
FUNCTION("_Zshort", "lea 2(%rdi), %eax\nret\n")
FUNCTION("_Zback", "1: dec %edi\njg 1b\nlea 2(%rdi), %eax\nret\n")
FUNCTION("_Zloop", "mov %edi, %ecx\nloop 1f\n1: ret\n")
FUNCTION("_Ztiny", "ret\n.byte 0xc3, 0xc3, 0xc3, 0xc3, 0xc3\n")
#elif defined(__aarch64__)
#define FUNCTION(name, body)                                                   \
  __asm__(".text\n.p2align 4\n.type " name ",%function\n" name ":\n" body      \
          ".size " name ",.-" name "\n.p2align 4\n");
__asm__(
    ".data\n.p2align 3\n_Zword: .word 2\n.text\n.p2align 3\n_Znear: .word 2\n");
FUNCTION("_Zrelative",
         "adrp x1, _Zword\nldr w1, [x1, :lo12:_Zword]\nadd w0, w0, w1\nret\n")
FUNCTION("_Zcompare", "adr x1, _Znear\nldr w1, [x1]\nadd w0, w0, w1\nret\n")
FUNCTION("_Zbranch", "cbz w0, 1f\nadd w0, w0, #2\nret\n1: mov w0, #7\nret\n")
FUNCTION("_Zjump", "b _Zrelative\n")
FUNCTION("_Zcall", "tbz w0, #0, 1f\nadd w0, w0, #2\n1: ret\n")
FUNCTION("_Zshort", "ldr w1, _Znear\nadd w0, w0, w1\nret\n")
FUNCTION("_Zback", "1: subs w0, w0, #1\nb.gt 1b\nadd w0, w0, #2\nret\n")
FUNCTION("_Zloop", "1: sub w0, w0, #1\ncbnz w0, 1b\nret\n")
FUNCTION("_Ztiny", "1: b 1b\n")
#endif
HIDDEN(_Zplain) { return x + number - 38; }

/* clang-format off */
#define EACH(DO)                                                               \
  DO(_Zrelative)                                                               \
  DO(_Zcompare)                                                                \
  DO(_Zbranch) DO(_Zjump) DO(_Zcall) DO(_Zshort) DO(_Zback) DO(_Zloop)         \
      DO(_Ztiny) DO(_Zplain)
/* clang-format on */
#define DECLARE(name)                                                          \
  extern int name(int) __attribute__((visibility("hidden")));
#define ENTRY(name) {#name, name},
EACH(DECLARE)
struct {
  const char *name;
  int (*function)(int);
} targets[] = {EACH(ENTRY){0, 0}};
