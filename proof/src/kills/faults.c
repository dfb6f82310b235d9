/*
 * File operations of a process, counted and failed: preloaded before the C library. The files below FAULTS_ROOT count. Operation
 * FAULTS_AT is done as FAULTS_HOW says; FAULTS_LOG gets a line for each.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum how { NONE, BEFORE, AFTER, TORN, POWER, FULL, IO };

static const char *const hows[] = {"", "before", "after", "torn", "power", "full", "io"};

/* The content that a file had when it was last synchronised. */
struct shadow {
  dev_t dev;
  ino_t ino;
  int fd;
  int dirty;
  char *content;
  size_t size;
};

static struct {
  pthread_mutex_t lock;
  const char *root;
  int log;
  long at, count;
  enum how how;
  struct shadow shadows[512];
  int length;
} state = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, .log = -1};

__attribute__((constructor)) static void begin(void) {
  const char *log = getenv("FAULTS_LOG"), *at = getenv("FAULTS_AT"), *how = getenv("FAULTS_HOW");
  state.root = getenv("FAULTS_ROOT");
  state.at = at ? atol(at) : 0;
  for (int i = 0; how && i <= IO; i++)
    if (!strcmp(how, hows[i])) state.how = i;
  if (log) state.log = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static int is_below(const char *path) {
  return state.root && path && !strncmp(path, state.root, strlen(state.root));
}

static int path_of(int fd, char *path) {
  struct stat found;
  char link[64];
  if (!state.root || fstat(fd, &found) || !(S_ISREG(found.st_mode) || S_ISDIR(found.st_mode))) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length < 0) return 0;
  path[length] = 0;
  /* SQLite's memory of its log is never synchronised, and made anew. */
  return is_below(path) && !(length > 4 && !strcmp(path + length - 4, "-shm"));
}

static struct shadow *shadow_of(int fd) {
  struct stat found;
  if (fstat(fd, &found) || !S_ISREG(found.st_mode)) return NULL;
  for (int i = 0; i < state.length; i++)
    if (state.shadows[i].dev == found.st_dev && state.shadows[i].ino == found.st_ino) return &state.shadows[i];
  if (state.length == 512) abort();
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  struct shadow *made = &state.shadows[state.length++];
  /* Never closed: that would release the locks that SQLite holds on the file. */
  *made = (struct shadow){found.st_dev, found.st_ino, syscall(SYS_openat, AT_FDCWD, link, O_RDWR | O_CLOEXEC, 0)};
  return made;
}

/* Keeps the content of a file before its first change after a synchronisation. */
static void change(int fd) {
  if (state.how != POWER) return;
  struct shadow *shadow = shadow_of(fd);
  struct stat found;
  if (!shadow || shadow->dirty || fstat(shadow->fd, &found)) return;
  shadow->dirty = 1;
  shadow->size = found.st_size;
  shadow->content = malloc(found.st_size + 1);
  for (size_t done = 0; done < shadow->size;) {
    ssize_t got = syscall(SYS_pread64, shadow->fd, shadow->content + done, shadow->size - done, done);
    if (got <= 0) break;
    done += got;
  }
}

static void synchronised(int fd) {
  if (state.how != POWER) return;
  struct shadow *shadow = shadow_of(fd);
  if (!shadow || !shadow->dirty) return;
  free(shadow->content);
  shadow->dirty = 0;
}

static void die(void) {
  syscall(SYS_kill, getpid(), SIGKILL);
  for (;;) pause();
}

/* Every change that is not synchronised is gone. */
static void lose_power(void) {
  for (int i = 0; i < state.length; i++) {
    struct shadow *shadow = &state.shadows[i];
    if (!shadow->dirty) continue;
    syscall(SYS_ftruncate, shadow->fd, 0);
    for (size_t done = 0; done < shadow->size;) {
      ssize_t put = syscall(SYS_pwrite64, shadow->fd, shadow->content + done, shadow->size - done, done);
      if (put <= 0) break;
      done += put;
    }
  }
  die();
}

/* Counts an operation. The lock stays held until `end`, so that operations happen one after another. */
static enum how next(char kind, const char *path) {
  pthread_mutex_lock(&state.lock);
  state.count++;
  if (state.log >= 0) {
    char line[PATH_MAX + 8];
    int length = snprintf(line, sizeof line, "%c %s\n", kind, path);
    syscall(SYS_write, state.log, line, length);
  }
  if (state.how == FULL) return kind == 'w' && state.at > 0 && state.count >= state.at ? FULL : NONE;
  if (state.count != state.at) return NONE;
  if (state.how == BEFORE) die();
  return state.how;
}

static void end(enum how how) {
  int code = errno;
  if (how == AFTER || how == TORN) die();
  if (how == POWER) lose_power();
  pthread_mutex_unlock(&state.lock);
  errno = code;
}

#define REAL(result, name, ...) \
  static result (*real)(__VA_ARGS__); \
  if (!real) real = dlsym(RTLD_NEXT, #name)

#define AROUND(kind, path, before, call, done) \
  enum how how = next(kind, path); \
  if (how == IO || how == FULL) { \
    errno = how == IO ? EIO : ENOSPC; \
    end(NONE); \
    return -1; \
  } \
  before; \
  __typeof__(call) result = call; \
  if (result >= 0) { done; } \
  end(how); \
  return result

#define HALF(size) (how == TORN ? (size) / 2 : (size))

ssize_t write(int fd, const void *data, size_t size) {
  REAL(ssize_t, write, int, const void *, size_t);
  char path[PATH_MAX];
  if (!path_of(fd, path)) return real(fd, data, size);
  AROUND('w', path, change(fd), real(fd, data, HALF(size)), );
}

#define PWRITE(name) \
  ssize_t name(int fd, const void *data, size_t size, off_t at) { \
    REAL(ssize_t, name, int, const void *, size_t, off_t); \
    char path[PATH_MAX]; \
    if (!path_of(fd, path)) return real(fd, data, size, at); \
    AROUND('w', path, change(fd), real(fd, data, HALF(size), at), ); \
  }
PWRITE(pwrite)
PWRITE(pwrite64)

ssize_t writev(int fd, const struct iovec *parts, int count) {
  REAL(ssize_t, writev, int, const struct iovec *, int);
  char path[PATH_MAX];
  if (!path_of(fd, path)) return real(fd, parts, count);
  AROUND('w', path, change(fd), how == TORN ? write(fd, parts->iov_base, parts->iov_len / 2) : real(fd, parts, count), );
}

#define PWRITEV(name) \
  ssize_t name(int fd, const struct iovec *parts, int count, off_t at) { \
    REAL(ssize_t, name, int, const struct iovec *, int, off_t); \
    char path[PATH_MAX]; \
    if (!path_of(fd, path)) return real(fd, parts, count, at); \
    AROUND('w', path, change(fd), \
      how == TORN ? pwrite(fd, parts->iov_base, parts->iov_len / 2, at) : real(fd, parts, count, at), ); \
  }
PWRITEV(pwritev)
PWRITEV(pwritev64)

#define SYNC(name) \
  int name(int fd) { \
    REAL(int, name, int); \
    char path[PATH_MAX]; \
    if (!path_of(fd, path)) return real(fd); \
    AROUND('s', path, , real(fd), synchronised(fd)); \
  }
SYNC(fsync)
SYNC(fdatasync)

#define TRUNCATE(name) \
  int name(int fd, off_t size) { \
    REAL(int, name, int, off_t); \
    char path[PATH_MAX]; \
    if (!path_of(fd, path)) return real(fd, size); \
    AROUND('t', path, change(fd), real(fd, size), ); \
  }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)

#define MOVE(name, kind) \
  int name(const char *from, const char *to) { \
    REAL(int, name, const char *, const char *); \
    if (!is_below(to)) return real(from, to); \
    AROUND(kind, to, , real(from, to), ); \
  }
MOVE(rename, 'r')
MOVE(link, 'l')

int unlink(const char *path) {
  REAL(int, unlink, const char *);
  if (!is_below(path) || access(path, F_OK)) return real(path);
  AROUND('u', path, , real(path), );
}

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    REAL(int, name, const char *, int, ...); \
    va_list rest; \
    va_start(rest, flags); \
    int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0; \
    va_end(rest); \
    if (!(flags & O_TRUNC) || !is_below(path)) return real(path, flags, mode); \
    AROUND('o', path, { \
      int old = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0); \
      if (old >= 0) change(old); \
    }, real(path, flags, mode), change(result)); \
  }
OPEN(open)
OPEN(open64)
