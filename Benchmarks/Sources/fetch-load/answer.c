#include "fetch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void begin(struct answer *answer) {
    answer->head_count = 0;
    answer->has_head = false;
    answer->left = 0;
}

// Looks for the end of the head in what came; returns how many of the bytes belong to it.
static size_t take_head(struct answer *answer, const char *bytes, size_t count) {
    size_t before = answer->head_count, room = head_size - 1 - before;
    size_t added = count < room ? count : room;
    memcpy(answer->head + before, bytes, added);
    answer->head[before + added] = 0;
    char *end = strstr(answer->head, "\r\n\r\n");
    answer->head_count = before + added;
    if (!end) {
        if (added == room) fail("a head is too long");
        return added;
    }
    size_t length = (size_t)(end - answer->head) + 4;
    answer->head[length] = 0;
    answer->has_head = true;
    answer->status = atoi(answer->head + 9);
    const char *field = strcasestr(answer->head, "\r\ncontent-length:");
    answer->left = field ? strtoull(field + 17, NULL, 10) : 0;
    return length - before;
}

bool take(struct answer *answer, const char *bytes, size_t count, bool shows_body) {
    if (!answer->has_head) {
        size_t used = take_head(answer, bytes, count);
        bytes += used;
        count -= used;
        if (!answer->has_head) return false;
    }
    size_t body = count < answer->left ? count : answer->left;
    answer->left -= body;
    if (shows_body) {
        fwrite(bytes, 1, body, stdout);
        if (answer->left == 0) putchar('\n');
    }
    return answer->left == 0;
}
