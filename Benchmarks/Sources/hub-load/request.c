#include "load.h"

#include <stdio.h>
#include <stdlib.h>

// As one of the SDKs writes it: 64 digits of a device token, a tag that all have and one that every hundredth has.
static const char body_format[] =
    "<?xml version=\"1.0\" encoding=\"utf-8\"?><entry xmlns=\"http://www.w3.org/2005/Atom\"><content type=\"application/xml\">"
    "<AppleRegistrationDescription xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\" "
    "xmlns=\"http://schemas.microsoft.com/netservices/2010/10/servicebus/connect\"><Tags>all,part:%02u</Tags>"
    "<DeviceToken>%064llX</DeviceToken></AppleRegistrationDescription></content></entry>";

size_t write_upsert(char *to, size_t size, uint64_t number, const char *token) {
    char body[1024];
    int length = snprintf(body, sizeof body, body_format, (unsigned)(number % 100), (unsigned long long)number + 1);
    int written = snprintf(
        to, size,
        "PUT /%s/registrations/%llu-5-1?api-version=2020-06 HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
        "Content-Type: application/atom+xml; charset=UTF-8\r\nAuthorization: %s\r\n"
        "User-Agent: NHub/2020-06 (api-origin=Benchmark;os=Linux)\r\nContent-Length: %d\r\n\r\n%s",
        options.hub, (unsigned long long)number, options.port, token, length, body);
    if (written < 0 || (size_t)written >= size) abort();
    return (size_t)written;
}
