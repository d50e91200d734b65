// hub-load PORT HUB KEY_NAME KEY CONNECTIONS FIRST REQUESTS
// Upserts registrations FIRST to FIRST + REQUESTS - 1 and prints one line of JSON.
#include "load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { input_size = 16384, request_size = 4096 };

struct connection {
    int socket;
    size_t count; // bytes of the answer so far
    uint64_t began;
    char input[input_size];
};

struct options options;
static char token[1024];
static uint64_t next_number, answered, refused;
static uint64_t *latencies;

static uint64_t now_nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void fail(const char *what) {
    fprintf(stderr, "hub-load: %s: %s\n", what, strerror(errno));
    exit(1);
}

// Sends the next request, if there is one; requests are smaller than any socket's buffer.
static void send_next(struct connection *connection) {
    if (next_number == options.first + options.requests) return;
    char request[request_size];
    size_t size = write_upsert(request, sizeof request, next_number++, token);
    connection->began = now_nanoseconds();
    if (send(connection->socket, request, size, MSG_NOSIGNAL) != (ssize_t)size) fail("send");
}

// Whether the whole answer is there: a head and as many bytes as it says.
static bool is_complete(struct connection *connection) {
    connection->input[connection->count] = 0;
    const char *end = strstr(connection->input, "\r\n\r\n");
    if (!end) return false;
    const char *field = strcasestr(connection->input, "\r\ncontent-length:");
    size_t length = field && field < end ? strtoul(field + 17, NULL, 10) : 0;
    return connection->count >= (size_t)(end - connection->input) + 4 + length;
}

static void receive(struct connection *connection) {
    size_t room = input_size - 1 - connection->count;
    ssize_t size = recv(connection->socket, connection->input + connection->count, room, 0);
    if (size <= 0) fail("the server closed a connection");
    connection->count += (size_t)size;
    if (!is_complete(connection)) return;
    if (strncmp(connection->input, "HTTP/1.1 200 ", 13) != 0 && refused++ == 0) {
        fprintf(stderr, "hub-load: refused: %s\n", connection->input);
    }
    latencies[answered++] = now_nanoseconds() - connection->began;
    connection->count = 0;
    send_next(connection);
}

static struct connection *connect_all(int events) {
    struct connection *connections = calloc(options.connections, sizeof *connections);
    if (!connections) fail("memory");
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(options.port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (uint32_t index = 0; index < options.connections; index++) {
        int one = 1, descriptor = socket(AF_INET, SOCK_STREAM, 0);
        if (descriptor < 0 || connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0) fail("connect");
        setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        connections[index].socket = descriptor;
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &connections[index]};
        if (epoll_ctl(events, EPOLL_CTL_ADD, descriptor, &event) != 0) fail("epoll");
    }
    return connections;
}

static int compare(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

static void report(uint64_t nanoseconds) {
    qsort(latencies, answered, sizeof *latencies, compare);
    printf(
        "{\"requests\":%llu,\"refused\":%llu,\"seconds\":%.6f,\"median\":%.3f,\"late\":%.3f}\n", (unsigned long long)answered,
        (unsigned long long)refused, (double)nanoseconds / 1e9, (double)latencies[answered / 2] / 1e6,
        (double)latencies[answered * 99 / 100] / 1e6);
}

int main(int count, char **words) {
    if (count != 8) {
        fprintf(stderr, "usage: hub-load PORT HUB KEY_NAME KEY CONNECTIONS FIRST REQUESTS\n");
        return 64;
    }
    options.port = (uint16_t)atoi(words[1]);
    options.hub = words[2];
    options.key_name = words[3];
    options.key = words[4];
    options.connections = (uint32_t)strtoul(words[5], NULL, 10);
    options.first = strtoull(words[6], NULL, 10);
    options.requests = strtoull(words[7], NULL, 10);
    if (!options.connections || options.requests < options.connections) return 64;
    next_number = options.first;
    latencies = calloc(options.requests, sizeof *latencies);
    int events = epoll_create1(0);
    if (!latencies || events < 0) fail("start");
    make_token(token, sizeof token);
    struct connection *connections = connect_all(events);
    uint64_t start = now_nanoseconds();
    for (uint32_t index = 0; index < options.connections; index++) send_next(&connections[index]);
    while (answered < options.requests) {
        struct epoll_event ready[256];
        int found = epoll_wait(events, ready, 256, 30000);
        if (found == 0) errno = ETIMEDOUT;
        if (found <= 0 && errno != EINTR) fail("no answer");
        for (int index = 0; index < found; index++) receive(ready[index].data.ptr);
    }
    report(now_nanoseconds() - start);
    return 0;
}
