#include "sink.h"

#include <stdlib.h>
#include <string.h>

size_t bytes_count(const struct bytes *bytes) { return bytes->end - bytes->start; }

// Makes room for `size` bytes at the end and returns where they go; the caller moves `end`.
uint8_t *bytes_reserve(struct bytes *bytes, size_t size) {
    if (bytes->capacity - bytes->end >= size) return bytes->memory + bytes->end;
    size_t count = bytes_count(bytes);
    if (bytes->start > 0) {
        memmove(bytes->memory, bytes->memory + bytes->start, count);
        bytes->start = 0;
        bytes->end = count;
    }
    if (bytes->capacity - bytes->end < size) {
        size_t capacity = bytes->capacity ? bytes->capacity : 65536;
        while (capacity - count < size) capacity *= 2;
        uint8_t *memory = realloc(bytes->memory, capacity);
        if (!memory) abort();
        bytes->memory = memory;
        bytes->capacity = capacity;
    }
    return bytes->memory + bytes->end;
}

void bytes_consume(struct bytes *bytes, size_t size) {
    bytes->start += size;
    if (bytes->start == bytes->end) bytes->start = bytes->end = 0;
}
