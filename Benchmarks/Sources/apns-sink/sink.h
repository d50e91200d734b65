// A server that answers every request with status 200, and is never what limits the client that is measured: one thread,
// OpenSSL, one parse over what was read, one write for all answers to it, in as many TLS records as the options say. It reads no
// header block unless it counts devices, and judges none, so it is no APNs; the local APNs of the server package is.
#ifndef SINK_H
#define SINK_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What the command line says.
struct options {
    uint32_t streams;        // SETTINGS_MAX_CONCURRENT_STREAMS
    uint32_t window;         // the receive window of the connection and of each stream
    uint64_t delay;          // nanoseconds between a request and its answer; window updates wait as long
    bool warms_up;           // allow one stream until the first request, as APNs does
    bool indexes_ids;        // every id enters the client's table and is written plain, as Netty writes headers
    uint32_t answers_per_record; // how many answers share a TLS record; 0 for all that are there
    uint32_t marked_body;    // requests with a body of this size are counted apart; 0 for none
    uint32_t devices;        // header blocks are read; device tokens that are numbers up to this one are counted; 0 for neither
    const char *answer_body; // what every answer says; absent for answers without a body
    const char *certificate; // where to write the certificate to trust
};

// Totals over all connections, for the `stats` command.
struct totals {
    uint64_t requests, bytes_in, bytes_out, overruns;
    uint32_t connections, peak, opened;
    uint64_t marked;           // requests with a body of the size that is marked
    uint64_t last_marked;      // when the last of them came, in microseconds since 1970
    uint64_t to_devices, devices; // requests for one of the device tokens, and how many of the tokens got one
};

// A queue of bytes: appended at the end, written from the start.
struct bytes {
    uint8_t *memory;
    size_t start, end, capacity;
};

// Bytes up to a position of the output may leave at a time.
struct release {
    uint64_t due;
    uint64_t position;
};

struct connection {
    int socket;
    SSL *tls;
    bool has_preface, is_writing, is_warm, is_broken;
    struct bytes input, output;
    uint64_t appended, released, written; // positions in the output since the beginning
    struct release *releases;             // a ring
    size_t first_release, release_count, release_capacity;
    uint32_t consumed;  // body bytes since the last window update
    int64_t credit;     // body bytes that the client may still send
    uint32_t next_answer;
    struct header_reader *reader;
    struct connection *previous, *next;
};

extern struct options options;
extern struct totals totals;

uint64_t now_nanoseconds(void);
uint64_t microseconds_since_1970(void);

// bytes.c
uint8_t *bytes_reserve(struct bytes *bytes, size_t size);
void bytes_consume(struct bytes *bytes, size_t size);
size_t bytes_count(const struct bytes *bytes);

// certificate.c
SSL_CTX *make_tls_context(const char *certificate_path);

// headers.c
// Reads the header block of a request and counts its device.
void read_headers(struct connection *connection, uint32_t stream, const uint8_t *block, size_t size);
// The id that the request of this stream had, of 36 characters; NULL when it had none.
const char *request_id(struct connection *connection, uint32_t stream);
void end_headers_of(struct connection *connection);

// frames.c
void prepare_answers(void);
void greet(struct connection *connection);
void read_frames(struct connection *connection);
size_t record_size(const uint8_t *frames, size_t size);

#endif
