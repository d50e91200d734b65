#include "sink.h"

#include <nghttp2/nghttp2.h>
#include <stdlib.h>
#include <string.h>

// More than streams are open at a time.
enum { place_count = 4096, id_size = 36, token_size = 64 };

struct header_reader {
    nghttp2_hd_inflater *inflater;
    // The ids of the requests that are not answered yet, each at a place by its stream.
    struct {
        uint32_t stream;
        char id[id_size];
    } places[place_count];
};

static struct header_reader *reader_of(struct connection *connection) {
    if (connection->reader) return connection->reader;
    connection->reader = calloc(1, sizeof *connection->reader);
    if (!connection->reader || nghttp2_hd_inflate_new(&connection->reader->inflater) != 0) abort();
    return connection->reader;
}

// Tokens are numbers from 1 on, in 64 hexadecimal digits.
static void count_device(const uint8_t *path, size_t size) {
    static uint8_t *seen;
    static const char prefix[] = "/3/device/";
    size_t front = sizeof prefix - 1;
    if (size != front + token_size || memcmp(path, prefix, front) != 0) return;
    char digits[token_size + 1] = {0};
    memcpy(digits, path + front, token_size);
    unsigned long long number = strtoull(digits, NULL, 16);
    if (number == 0 || number > options.devices) return;
    if (!seen) seen = calloc(options.devices + 1ul, 1);
    if (!seen) abort();
    totals.to_devices++;
    totals.devices += !seen[number];
    seen[number] = 1;
}

static void keep_id(struct header_reader *reader, uint32_t stream, const nghttp2_nv *header) {
    if (header->valuelen != id_size) return;
    reader->places[stream / 2 % place_count].stream = stream;
    memcpy(reader->places[stream / 2 % place_count].id, header->value, id_size);
}

void read_headers(struct connection *connection, uint32_t stream, const uint8_t *block, size_t size) {
    struct header_reader *reader = reader_of(connection);
    for (;;) {
        nghttp2_nv header;
        int flags = 0;
        ssize_t used = nghttp2_hd_inflate_hd2(reader->inflater, &header, &flags, block, size, 1);
        if (used < 0 || !(flags & (NGHTTP2_HD_INFLATE_EMIT | NGHTTP2_HD_INFLATE_FINAL))) {
            connection->is_broken = true;
            return;
        }
        block += used;
        size -= (size_t)used;
        if (flags & NGHTTP2_HD_INFLATE_EMIT) {
            if (header.namelen == 5 && memcmp(header.name, ":path", 5) == 0) count_device(header.value, header.valuelen);
            else if (header.namelen == 7 && memcmp(header.name, "apns-id", 7) == 0) keep_id(reader, stream, &header);
        } else {
            nghttp2_hd_inflate_end_headers(reader->inflater);
            return;
        }
    }
}

const char *request_id(struct connection *connection, uint32_t stream) {
    struct header_reader *reader = reader_of(connection);
    return reader->places[stream / 2 % place_count].stream == stream ? reader->places[stream / 2 % place_count].id : NULL;
}

void end_headers_of(struct connection *connection) {
    if (connection->reader) nghttp2_hd_inflate_del(connection->reader->inflater);
    free(connection->reader);
}
