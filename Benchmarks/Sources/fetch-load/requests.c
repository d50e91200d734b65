#include "fetch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct request *read_requests(const char *path, size_t *count) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) fail("the file of requests");
    long size = ftell(file);
    rewind(file);
    char *text = malloc((size_t)size + 1);
    if (size <= 0 || !text || fread(text, 1, (size_t)size, file) != (size_t)size) fail("the file of requests");
    fclose(file);
    text[size] = 0;
    struct request *requests = NULL;
    *count = 0;
    for (char *next = text; next < text + size; next += strlen(next) + 1) {
        if (*count % 1024 == 0) requests = realloc(requests, (*count + 1024) * sizeof *requests);
        if (!requests) fail("memory");
        requests[(*count)++] = (struct request){.bytes = next, .size = strlen(next)};
    }
    return requests;
}
