// apns-sink [--streams N] [--window BYTES] [--delay-ms N] [--answers-per-record N] [--index-ids] [--warm-up] [--marked-body BYTES]
//           [--devices COUNT] [--answer-body TEXT] [--certificate FILE]
//
// Prints its port, then reads commands from standard input and answers each with a line of JSON: `stats`; `away`, which closes all
// connections and refuses new ones; `back`, which listens on the same port again. Ends when standard input does.
#include "sink.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { read_size = 64 * 1024, output_limit = 4 * 1024 * 1024, write_size = 128 * 1024, reads_per_turn = 4 };

struct options options = {.streams = 1000, .window = 16 * 1024 * 1024};
struct totals totals;

static int poll_set;
static SSL_CTX *tls_context;
static struct connection *connections;
static int listener = -1;
static struct sockaddr_in address = {.sin_family = AF_INET};
static bool is_away, is_to_be_away;

uint64_t now_nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

uint64_t microseconds_since_1970(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

static void end_connection(struct connection *connection) {
    totals.bytes_in += BIO_number_read(SSL_get_rbio(connection->tls));
    totals.bytes_out += BIO_number_written(SSL_get_wbio(connection->tls));
    totals.connections--;
    if (connection->next) connection->next->previous = connection->previous;
    if (connection->previous) connection->previous->next = connection->next;
    else connections = connection->next;
    SSL_free(connection->tls);
    close(connection->socket);
    free(connection->input.memory);
    free(connection->output.memory);
    free(connection->releases);
    end_headers_of(connection);
    free(connection);
}

// Records that are made one after the other leave with one write.
static void attach(struct connection *connection) {
    BIO *writer = BIO_new(BIO_f_buffer());
    if (!writer || BIO_set_write_buffer_size(writer, write_size) != 1) abort();
    BIO_push(writer, BIO_new_socket(connection->socket, BIO_NOCLOSE));
    SSL_set_bio(connection->tls, BIO_new_socket(connection->socket, BIO_NOCLOSE), writer);
}

static void accept_connection(void) {
    int socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    if (socket < 0) return;
    int on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct connection *connection = calloc(1, sizeof *connection);
    if (!connection) abort();
    connection->socket = socket;
    connection->tls = SSL_new(tls_context);
    attach(connection);
    SSL_set_accept_state(connection->tls);
    connection->next = connections;
    if (connections) connections->previous = connection;
    connections = connection;
    totals.opened++;
    if (++totals.connections > totals.peak) totals.peak = totals.connections;
    greet(connection);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    epoll_ctl(poll_set, EPOLL_CTL_ADD, socket, &event);
}

static void watch_for_writing(struct connection *connection, bool is_writing) {
    if (connection->is_writing == is_writing) return;
    connection->is_writing = is_writing;
    // Who does not read the answers is not read either.
    bool is_full = bytes_count(&connection->output) > output_limit;
    struct epoll_event event = {.events = (is_writing ? EPOLLOUT : 0) | (is_full ? 0 : EPOLLIN), .data.ptr = connection};
    epoll_ctl(poll_set, EPOLL_CTL_MOD, connection->socket, &event);
}

// What was appended since the last call may leave after the delay.
static void schedule_release(struct connection *connection) {
    if (options.delay == 0) {
        connection->released = connection->appended;
        return;
    }
    uint64_t last = connection->released;
    if (connection->release_count > 0) {
        size_t index = (connection->first_release + connection->release_count - 1) % connection->release_capacity;
        last = connection->releases[index].position;
    }
    if (connection->appended == last) return;
    if (connection->release_count == connection->release_capacity) {
        size_t capacity = connection->release_capacity ? connection->release_capacity * 2 : 64;
        struct release *larger = malloc(capacity * sizeof *larger);
        if (!larger) abort();
        for (size_t index = 0; index < connection->release_count; index++) {
            larger[index] = connection->releases[(connection->first_release + index) % connection->release_capacity];
        }
        free(connection->releases);
        connection->releases = larger;
        connection->first_release = 0;
        connection->release_capacity = capacity;
    }
    size_t index = (connection->first_release + connection->release_count++) % connection->release_capacity;
    connection->releases[index] = (struct release){now_nanoseconds() + options.delay, connection->appended};
}

// Returns when the next bytes are due, or 0.
static uint64_t release_due(struct connection *connection, uint64_t now) {
    while (connection->release_count > 0) {
        struct release *next = &connection->releases[connection->first_release];
        if (next->due > now) return next->due;
        connection->released = next->position;
        connection->first_release = (connection->first_release + 1) % connection->release_capacity;
        connection->release_count--;
    }
    return 0;
}

static void write_output(struct connection *connection) {
    while (connection->written < connection->released) {
        const uint8_t *at = connection->output.memory + connection->output.start;
        size_t size = record_size(at, connection->released - connection->written);
        int count = SSL_write(connection->tls, at, (int)size);
        if (count <= 0) {
            int error = SSL_get_error(connection->tls, count);
            if (error != SSL_ERROR_WANT_WRITE && error != SSL_ERROR_WANT_READ) connection->is_broken = true;
            watch_for_writing(connection, error == SSL_ERROR_WANT_WRITE);
            return;
        }
        connection->written += (uint64_t)count;
        bytes_consume(&connection->output, (size_t)count);
    }
    BIO *writer = SSL_get_wbio(connection->tls);
    bool is_full = BIO_flush(writer) <= 0;
    if (is_full && !BIO_should_retry(writer)) connection->is_broken = true;
    watch_for_writing(connection, is_full);
}

enum reading { over, waiting, more };

static enum reading read_input(struct connection *connection) {
    for (int turn = 0; turn < reads_per_turn; turn++) {
        uint8_t *at = bytes_reserve(&connection->input, read_size);
        int count = SSL_read(connection->tls, at, read_size);
        if (count <= 0) {
            int error = SSL_get_error(connection->tls, count);
            return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? waiting : over;
        }
        connection->input.end += (size_t)count;
        read_frames(connection);
        if (connection->is_broken) return over;
    }
    return more;
}

// Reads until there is nothing left, because what OpenSSL has read ahead would never be announced.
static void serve(struct connection *connection) {
    enum reading reading;
    do {
        reading = bytes_count(&connection->output) > output_limit ? waiting : read_input(connection);
        if (reading == over) return end_connection(connection);
        if (!SSL_is_init_finished(connection->tls)) return;
        schedule_release(connection);
        if (options.delay == 0 || connection->is_writing) write_output(connection);
        if (connection->is_broken) return end_connection(connection);
    } while (reading == more);
}

// Writes what is due; returns when more will be, or 0.
static uint64_t write_due(void) {
    if (options.delay == 0) return 0;
    uint64_t now = now_nanoseconds(), earliest = 0;
    for (struct connection *connection = connections, *next; connection; connection = next) {
        next = connection->next;
        uint64_t due = release_due(connection, now);
        if (due && (!earliest || due < earliest)) earliest = due;
        if (connection->written < connection->released && !connection->is_writing) write_output(connection);
        if (connection->is_broken) end_connection(connection);
    }
    return earliest;
}

static void print_totals(void) {
    uint64_t bytes_in = totals.bytes_in, bytes_out = totals.bytes_out;
    for (struct connection *connection = connections; connection; connection = connection->next) {
        bytes_in += BIO_number_read(SSL_get_rbio(connection->tls));
        bytes_out += BIO_number_written(SSL_get_wbio(connection->tls));
    }
    printf("{\"requests\":%llu,\"bytesIn\":%llu,\"bytesOut\":%llu,\"connections\":%u,\"peak\":%u,\"opened\":%u,\"overruns\":%llu,"
           "\"marked\":%llu,\"lastMarked\":%llu,\"toDevices\":%llu,\"devices\":%llu}\n",
           (unsigned long long)totals.requests, (unsigned long long)bytes_in, (unsigned long long)bytes_out, totals.connections,
           totals.peak, totals.opened, (unsigned long long)totals.overruns, (unsigned long long)totals.marked,
           (unsigned long long)totals.last_marked, (unsigned long long)totals.to_devices, (unsigned long long)totals.devices);
    fflush(stdout);
}

static void listen_on_port(void) {
    int on = 1;
    listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 1024) != 0
        || getsockname(listener, (struct sockaddr *)&address, &size) != 0) {
        perror("apns-sink");
        exit(1);
    }
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    epoll_ctl(poll_set, EPOLL_CTL_ADD, listener, &event);
}

// Not while events of the connections are still to be handled.
static void go_away_or_come_back(void) {
    if (is_away == is_to_be_away) return;
    is_away = is_to_be_away;
    if (!is_away) return listen_on_port();
    close(listener);
    while (connections) end_connection(connections);
}

static void obey_standard_input(void) {
    char line[64];
    ssize_t count = read(STDIN_FILENO, line, sizeof line);
    if (count <= 0) exit(0);
    if (line[0] == 'a') is_to_be_away = true;
    if (line[0] == 'b') is_to_be_away = false;
    for (ssize_t index = 0; index < count; index++) {
        if (line[index] == '\n') print_totals();
    }
}

static void read_options(int count, char **words) {
    for (int index = 1; index < count; index++) {
        const char *word = words[index];
        const char *value = index + 1 < count ? words[index + 1] : "";
        if (strcmp(word, "--warm-up") == 0) {
            options.warms_up = true;
            continue;
        }
        if (strcmp(word, "--index-ids") == 0) {
            options.indexes_ids = true;
            continue;
        }
        index++;
        if (strcmp(word, "--streams") == 0) options.streams = (uint32_t)strtoul(value, NULL, 10);
        else if (strcmp(word, "--window") == 0) options.window = (uint32_t)strtoul(value, NULL, 10);
        else if (strcmp(word, "--delay-ms") == 0) options.delay = strtoull(value, NULL, 10) * 1000000;
        else if (strcmp(word, "--answers-per-record") == 0) options.answers_per_record = (uint32_t)strtoul(value, NULL, 10);
        else if (strcmp(word, "--marked-body") == 0) options.marked_body = (uint32_t)strtoul(value, NULL, 10);
        else if (strcmp(word, "--devices") == 0) options.devices = (uint32_t)strtoul(value, NULL, 10);
        else if (strcmp(word, "--answer-body") == 0) options.answer_body = value;
        else if (strcmp(word, "--certificate") == 0) options.certificate = value;
        else {
            fprintf(stderr, "apns-sink: unknown option %s\n", word);
            exit(64);
        }
    }
}

int main(int count, char **words) {
    read_options(count, words);
    signal(SIGPIPE, SIG_IGN);
    prepare_answers();
    tls_context = make_tls_context(options.certificate);
    poll_set = epoll_create1(0);
    listen_on_port();
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    static char commands;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &commands};
    epoll_ctl(poll_set, EPOLL_CTL_ADD, STDIN_FILENO, &event);
    for (;;) {
        go_away_or_come_back();
        uint64_t due = write_due(), now = due ? now_nanoseconds() : 0;
        uint64_t wait = due > now ? due - now : 0;
        struct timespec timeout = {(time_t)(wait / 1000000000), (long)(wait % 1000000000)};
        struct epoll_event events[64];
        int ready = epoll_pwait2(poll_set, events, 64, due ? &timeout : NULL, NULL);
        for (int index = 0; index < ready; index++) {
            void *target = events[index].data.ptr;
            if (!target) accept_connection();
            else if (target == &commands) obey_standard_input();
            else serve(target);
        }
    }
}
