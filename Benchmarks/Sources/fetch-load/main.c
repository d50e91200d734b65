// fetch-load PORT CONNECTIONS REQUESTS SECONDS FILE [bodies]
// Makes the requests of FILE in turn, over and over, until there were REQUESTS or SECONDS have passed, and prints one line of JSON, or
// the bodies of the answers. The certificate is not looked at: what is measured is the server.
#include "fetch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

enum { input_size = 65536, status_count = 600 };

static struct request *requests;
static size_t request_count;
static uint64_t limit, begun, answered, bytes, deadline;
static uint64_t *latencies;
static uint64_t statuses[status_count];
static bool shows_bodies;

void fail(const char *what) {
    fprintf(stderr, "fetch-load: %s: %s\n", what, strerror(errno));
    exit(1);
}

static uint64_t now_nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

// Sends the next request, if there is one; requests are smaller than any socket's buffer.
static void send_next(struct connection *connection) {
    if (begun == limit) return;
    struct request *request = &requests[begun++ % request_count];
    begin(&connection->answer);
    connection->began = now_nanoseconds();
    if (SSL_write(connection->tls, request->bytes, (int)request->size) != (int)request->size) fail("send");
}

static void receive(struct connection *connection) {
    static char input[input_size];
    for (;;) {
        int count = SSL_read(connection->tls, input, input_size);
        if (count <= 0) {
            if (SSL_get_error(connection->tls, count) == SSL_ERROR_WANT_READ) return;
            fail("the server closed a connection");
        }
        bytes += (uint64_t)count;
        if (!take(&connection->answer, input, (size_t)count, shows_bodies)) continue;
        latencies[answered++] = now_nanoseconds() - connection->began;
        int status = connection->answer.status;
        statuses[status > 0 && status < status_count ? status : 0]++;
        send_next(connection);
    }
}

static int compare(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

static double milliseconds(double part) {
    return answered ? (double)latencies[(uint64_t)(part * (double)(answered - 1))] / 1e6 : 0;
}

static void report(uint64_t nanoseconds) {
    qsort(latencies, answered, sizeof *latencies, compare);
    printf(
        "{\"requests\":%llu,\"bytes\":%llu,\"seconds\":%.6f,\"median\":%.3f,\"late\":%.3f,\"last\":%.3f,\"statuses\":{",
        (unsigned long long)answered, (unsigned long long)bytes, (double)nanoseconds / 1e9, milliseconds(0.5), milliseconds(0.99),
        milliseconds(1));
    const char *comma = "";
    for (int status = 0; status < status_count; status++) {
        if (!statuses[status]) continue;
        printf("%s\"%d\":%llu", comma, status, (unsigned long long)statuses[status]);
        comma = ",";
    }
    printf("}}\n");
}

static struct connection *open_all(int events, uint16_t port, size_t count) {
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    struct connection *connections = calloc(count, sizeof *connections);
    if (!context || !connections || SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1) fail("start");
    for (size_t index = 0; index < count; index++) {
        open_connection(&connections[index], context, port);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &connections[index]};
        if (epoll_ctl(events, EPOLL_CTL_ADD, connections[index].socket, &event) != 0) fail("epoll");
    }
    return connections;
}

static void run(int events) {
    while (answered < limit && now_nanoseconds() < deadline) {
        struct epoll_event ready[256];
        int found = epoll_wait(events, ready, 256, 30000);
        if (found == 0) errno = ETIMEDOUT;
        if (found <= 0 && errno != EINTR) fail("no answer");
        for (int index = 0; index < found; index++) receive(ready[index].data.ptr);
    }
}

int main(int count, char **words) {
    if (count < 6 || count > 7) {
        fprintf(stderr, "usage: fetch-load PORT CONNECTIONS REQUESTS SECONDS FILE [bodies]\n");
        return 64;
    }
    size_t connection_count = strtoul(words[2], NULL, 10);
    limit = strtoull(words[3], NULL, 10);
    if (!connection_count || limit < connection_count) return 64;
    requests = read_requests(words[5], &request_count);
    shows_bodies = count == 7;
    latencies = calloc(limit, sizeof *latencies);
    int events = epoll_create1(0);
    if (!latencies || events < 0) fail("start");
    struct connection *connections = open_all(events, (uint16_t)atoi(words[1]), connection_count);
    uint64_t start = now_nanoseconds();
    deadline = start + strtoull(words[4], NULL, 10) * 1000000000u;
    for (size_t index = 0; index < connection_count; index++) send_next(&connections[index]);
    run(events);
    if (!shows_bodies) report(now_nanoseconds() - start);
    return 0;
}
