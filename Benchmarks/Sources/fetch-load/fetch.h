// Callers over TLS that cost little themselves: one thread, kept connections of HTTP/1.1 with one request under way on each.
#ifndef FETCH_H
#define FETCH_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { head_size = 8192 };

// An answer as it comes in. What is not wanted is not kept.
struct answer {
    char head[head_size];
    size_t head_count;
    uint64_t left; // bytes of the body that have not come
    bool has_head;
    int status;
};

struct connection {
    SSL *tls;
    int socket;
    uint64_t began;
    struct answer answer;
};

// One request of the file, which is used over and over.
struct request {
    const char *bytes;
    size_t size;
};

// requests.c
// Reads requests, each ended by a zero byte. Ends the program when there are none.
struct request *read_requests(const char *path, size_t *count);

// answer.c
// Takes bytes of an answer; whether it is complete. Bodies go to standard output, a line each, if that is wanted.
bool take(struct answer *answer, const char *bytes, size_t count, bool shows_body);
// Makes room for the next one.
void begin(struct answer *answer);

// connect.c
// A connection whose handshake is done and that does not block from now on.
void open_connection(struct connection *connection, SSL_CTX *context, uint16_t port);

// Says what failed and ends the program.
void fail(const char *what);

#endif
