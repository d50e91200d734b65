// Callers of the hub protocol that cost next to nothing themselves: one thread, keep-alive connections of HTTP/1.1 with one request
// under way on each, and one signature for all of them, as the clients that sign for a host cache it.
#ifndef LOAD_H
#define LOAD_H

#include <stddef.h>
#include <stdint.h>

// What the command line says.
struct options {
    uint16_t port;
    const char *hub, *key_name, *key;
    uint32_t connections;
    uint64_t first;    // number of the first registration
    uint64_t requests; // one registration each
};

extern struct options options;

// signature.c
// The value of the Authorization header, valid for an hour.
void make_token(char *token, size_t size);

// request.c
// Writes the upsert of a registration with two tags; returns its size.
size_t write_upsert(char *to, size_t size, uint64_t number, const char *token);

#endif
