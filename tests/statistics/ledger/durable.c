/* Before a PostgreSQL server: keeps beside its data what a power cut would leave of it, worst case first.

   A file's content is there as it was when it was last synced; what was never synced is not there. Renaming and
   removing take effect at once. LD_PRELOAD of the server; DURABLE_DATA and DURABLE_COPY name the two folders. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

static int copy_of(const char *path, char *found, size_t size)
{
    const char *data = getenv("DURABLE_DATA"), *copy = getenv("DURABLE_COPY");
    char whole[4096];
    if (!data || !copy)
        return 0;
    if (path[0] != '/') {
        char here[2048];
        if (!getcwd(here, sizeof here))
            return 0;
        snprintf(whole, sizeof whole, "%s/%s", here, path);
    } else
        snprintf(whole, sizeof whole, "%s", path);
    if (strncmp(whole, data, strlen(data)) || whole[strlen(data)] != '/')
        return 0;
    snprintf(found, size, "%s%s", copy, whole + strlen(data));
    return 1;
}

static int turn(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.turn", getenv("DURABLE_COPY"));
    int lock = open(path, O_CREAT | O_RDWR, 0600);
    if (lock >= 0)
        flock(lock, LOCK_EX);
    return lock;
}

/* Before the sync itself: what is written while it runs need not be on the disk. */
static void keep(int fd)
{
    char link[64], path[4096], copy[4096], made[4160];
    struct stat what;
    if (fstat(fd, &what) || !S_ISREG(what.st_mode))
        return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return;
    path[length] = 0;
    if (!copy_of(path, copy, sizeof copy))
        return;
    int lock = turn(), from = open(path, O_RDONLY);
    snprintf(made, sizeof made, "%s.durable~%d", copy, (int)getpid());
    int to = open(made, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    int whole = from >= 0 && to >= 0 && !fstat(from, &what);
    for (off_t left = whole ? what.st_size : 0; left > 0;) {
        ssize_t sent = sendfile(to, from, NULL, left);
        if (sent <= 0) {
            whole = 0;
            break;
        }
        left -= sent;
    }
    if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
    int (*real)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
    if (!whole || real(made, copy))
        abort();
    if (lock >= 0)
        close(lock);
}

int fsync(int fd)
{
    static int (*real)(int);
    if (!real)
        real = dlsym(RTLD_NEXT, "fsync");
    keep(fd);
    return real(fd);
}

int fdatasync(int fd)
{
    static int (*real)(int);
    if (!real)
        real = dlsym(RTLD_NEXT, "fdatasync");
    keep(fd);
    return real(fd);
}

int rename(const char *old, const char *new)
{
    char from[4096], to[4096];
    int (*real)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
    int done = real(old, new);
    if (!done && copy_of(old, from, sizeof from) && copy_of(new, to, sizeof to))
        real(from, to); /* where it was never synced, the one before stays */
    return done;
}

int unlink(const char *path)
{
    char copy[4096];
    int (*real)(const char *) = dlsym(RTLD_NEXT, "unlink");
    int done = real(path);
    if (!done && copy_of(path, copy, sizeof copy))
        real(copy);
    return done;
}
