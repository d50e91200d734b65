#include "sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { data = 0, headers = 1, settings = 4, ping = 6, go_away = 7, window_update = 8 };
enum { end_stream = 1, acknowledgement = 1, end_headers = 4, padded = 8, has_priority = 32 };
enum { header_size = 9, answer_count = 256, maximum_frame = 16384 };

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// A header block ready to copy: `:status: 200` and an `apns-id`, Huffman-coded unless ids are indexed.
static struct {
    uint8_t bytes[64];
    size_t size;
} answers[answer_count], first_answer;

static void put32(uint8_t *at, uint32_t value) {
    at[0] = (uint8_t)(value >> 24);
    at[1] = (uint8_t)(value >> 16);
    at[2] = (uint8_t)(value >> 8);
    at[3] = (uint8_t)value;
}

static uint32_t get32(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

// The Huffman codes of the characters of a UUID (RFC 7541, Appendix B).
static size_t huffman(const char *text, uint8_t *out) {
    static const char alphabet[] = "0123456789ABCDEF-";
    static const uint8_t codes[] = {0x0, 0x1, 0x2, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x21, 0x5d, 0x5e, 0x5f, 0x60, 0x61, 0x16};
    static const uint8_t lengths[] = {5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 6, 7, 7, 7, 7, 7, 6};
    uint64_t bits = 0;
    int count = 0;
    size_t size = 0;
    for (; *text; text++) {
        size_t index = (size_t)(strchr(alphabet, *text) - alphabet);
        bits = bits << lengths[index] | codes[index];
        for (count += lengths[index]; count >= 8; count -= 8) out[size++] = (uint8_t)(bits >> (count - 8));
    }
    if (count > 0) out[size++] = (uint8_t)(bits << (8 - count)) | (uint8_t)(0xff >> count);
    return size;
}

// Netty gives every header that is not sensitive an entry in the table, and writes strings below 512 characters plain. The name of the
// id is then in the newest entry always.
static void write_indexing(uint8_t *block, const char *id, size_t *size) {
    block[0] = 0x88;
    block[1] = 0x40 | 62;
    block[2] = 36;
    memcpy(block + 3, id, 36);
    *size = 39;
}

// Ids in upper case, as APNs makes them. The first answer brings the name into the client's table.
void prepare_answers(void) {
    srand(1);
    for (int index = 0; index < answer_count; index++) {
        char id[37];
        snprintf(id, sizeof id, "%08X-%04X-%04X-%04X-%06X%06X", (unsigned)rand(), rand() & 0xffff, rand() & 0xffff,
                 rand() & 0xffff, rand() & 0xffffff, rand() & 0xffffff);
        uint8_t *block = answers[index].bytes;
        if (options.indexes_ids) {
            write_indexing(block, id, &answers[index].size);
            continue;
        }
        block[0] = 0x88;
        block[1] = 0x0f;
        block[2] = 62 - 15;
        size_t size = huffman(id, block + 4);
        block[3] = (uint8_t)(0x80 | size);
        answers[index].size = size + 4;
    }
    uint8_t *block = first_answer.bytes;
    memcpy(block, "\x88\x40\x07" "apns-id", 10);
    // From the length of the value on both are alike.
    size_t name = options.indexes_ids ? 2 : 3, rest = answers[0].size - name;
    memcpy(block + 10, answers[0].bytes + name, rest);
    first_answer.size = 10 + rest;
}

static uint8_t *frame(struct connection *connection, uint8_t kind, uint8_t flags, uint32_t stream, size_t length) {
    uint8_t *at = bytes_reserve(&connection->output, header_size + length);
    put32(at, (uint32_t)length << 8 | kind);
    at[4] = flags;
    put32(at + 5, stream);
    connection->output.end += header_size + length;
    connection->appended += header_size + length;
    return at + header_size;
}

static void put_setting(uint8_t *at, uint16_t identifier, uint32_t value) {
    at[0] = (uint8_t)(identifier >> 8);
    at[1] = (uint8_t)identifier;
    put32(at + 2, value);
}

static void tell_stream_limit(struct connection *connection) { put_setting(frame(connection, settings, 0, 0, 6), 3, options.streams); }

// The SETTINGS of APNs (Reference/APNs.md#1-4), but for what the options say.
void greet(struct connection *connection) {
    uint8_t *at = frame(connection, settings, 0, 0, 30);
    put_setting(at, 1, 4096);
    put_setting(at + 6, 3, options.warms_up ? 1 : options.streams);
    put_setting(at + 12, 4, options.window);
    put_setting(at + 18, 5, maximum_frame);
    put_setting(at + 24, 6, 8000);
    connection->is_warm = !options.warms_up;
    connection->credit = options.window;
    if (options.window > 65535) put32(frame(connection, window_update, 0, 0, 4), options.window - 65535);
}

// The id of the request comes back plain, as a literal that enters no table. The first answer has brought the name.
static size_t write_id(uint8_t *block, const char *id, bool is_first) {
    static const uint8_t first[] = "\x88\x40\x07" "apns-id" "\x24", later[] = "\x88\x0f\x2f\x24";
    size_t size = is_first ? sizeof first - 1 : sizeof later - 1;
    memcpy(block, is_first ? first : later, size);
    memcpy(block + size, id, 36);
    return size + 36;
}

static void answer(struct connection *connection, uint32_t stream) {
    bool is_first = connection->next_answer == 0;
    const uint8_t *block = is_first ? first_answer.bytes : answers[connection->next_answer % answer_count].bytes;
    size_t size = is_first ? first_answer.size : answers[connection->next_answer % answer_count].size;
    connection->next_answer++;
    const char *id = options.devices > 0 ? request_id(connection, stream) : NULL;
    uint8_t own[64];
    if (id) {
        size = write_id(own, id, is_first);
        block = own;
    }
    size_t length = options.answer_body ? strlen(options.answer_body) : 0;
    memcpy(frame(connection, headers, end_headers | (length ? 0 : end_stream), stream, size), block, size);
    if (length) memcpy(frame(connection, data, end_stream, stream, length), options.answer_body, length);
    totals.requests++;
    if (!connection->is_warm) {
        connection->is_warm = true;
        tell_stream_limit(connection);
    }
}

// Credit comes back once half of the window was used, in one piece (Reference/APNs.md#1-5).
static void consume(struct connection *connection, uint32_t length) {
    connection->credit -= length;
    if (connection->credit < 0) {
        totals.overruns++;
        connection->is_broken = true;
    }
    connection->consumed += length;
    if (connection->consumed <= options.window / 2) return;
    put32(frame(connection, window_update, 0, 0, 4), connection->consumed);
    connection->credit += connection->consumed;
    connection->consumed = 0;
}

// A header block is in one frame: that of a push is short.
static void take_headers(struct connection *connection, const uint8_t *at, uint32_t length) {
    const uint8_t *block = at + header_size;
    size_t front = (at[4] & padded ? 1 : 0) + (at[4] & has_priority ? 5 : 0), behind = at[4] & padded && length > 0 ? block[0] : 0;
    if (!(at[4] & end_headers) || front + behind > length) connection->is_broken = true;
    else read_headers(connection, get32(at + 5) & 0x7fffffff, block + front, length - front - behind);
}

static void take(struct connection *connection, const uint8_t *at, uint32_t length) {
    uint8_t kind = at[3], flags = at[4];
    uint32_t stream = get32(at + 5) & 0x7fffffff;
    switch (kind) {
    case data:
        consume(connection, length);
        if (length == options.marked_body && length > 0) {
            totals.marked++;
            totals.last_marked = microseconds_since_1970();
        }
        if (flags & end_stream) answer(connection, stream);
        break;
    case headers:
        if (options.devices > 0) take_headers(connection, at, length);
        if (flags & end_stream) answer(connection, stream);
        break;
    case settings:
        if (!(flags & acknowledgement)) frame(connection, settings, acknowledgement, 0, 0);
        break;
    case ping:
        if (!(flags & acknowledgement) && length == 8) memcpy(frame(connection, ping, acknowledgement, 0, 8), at + header_size, 8);
        break;
    default: break;
    }
}

// How many of these bytes, which are whole frames, make the next TLS record: those of as many answers as the options say, with
// what goes before and between them.
size_t record_size(const uint8_t *frames, size_t size) {
    if (options.answers_per_record == 0) return size > maximum_frame ? maximum_frame : size;
    size_t end = 0;
    uint32_t answered = 0;
    while (end < size && answered < options.answers_per_record) {
        size_t next = end + header_size + (get32(frames + end) >> 8);
        if (next > maximum_frame) break;
        answered += frames[end + 3] == (options.answer_body ? data : headers);
        end = next;
    }
    return end;
}

void read_frames(struct connection *connection) {
    struct bytes *input = &connection->input;
    if (!connection->has_preface) {
        size_t size = sizeof preface - 1;
        if (bytes_count(input) < size) return;
        if (memcmp(input->memory + input->start, preface, size) != 0) {
            connection->is_broken = true;
            return;
        }
        connection->has_preface = true;
        bytes_consume(input, size);
    }
    while (bytes_count(input) >= header_size && !connection->is_broken) {
        const uint8_t *at = input->memory + input->start;
        uint32_t length = get32(at) >> 8;
        if (length > maximum_frame) connection->is_broken = true;
        if (connection->is_broken || bytes_count(input) < header_size + length) return;
        take(connection, at, length);
        bytes_consume(input, header_size + length);
    }
}
