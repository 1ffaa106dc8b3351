// A sampling timer for programs that perf cannot sample: linked to a program
// (with -no-pie), it writes where the program is, 1000 times per second of its
// processor time, to samples.txt.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <ucontext.h>

enum { MOST = 1 << 20 };
static void *samples[MOST];
static volatile int count;

static void sample(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info;
  if (count < MOST)
    samples[count++] =
        (void *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
}

static void set_timer(int microseconds) {
  struct itimerval timer = {{0, microseconds}, {0, microseconds}};
  setitimer(ITIMER_PROF, &timer, NULL);
}

__attribute__((constructor)) static void start(void) {
  struct sigaction action = {.sa_sigaction = sample,
                             .sa_flags = SA_SIGINFO | SA_RESTART};
  sigaction(SIGPROF, &action, NULL);
  set_timer(1000);
}

__attribute__((destructor)) static void finish(void) {
  set_timer(0);
  FILE *file = fopen("samples.txt", "w");
  for (int i = 0; file && i < count; ++i)
    fprintf(file, "%p\n", samples[i]);
  if (file)
    fclose(file);
}
