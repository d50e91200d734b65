#include "load.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

// Escapes the three characters of Base64 that a header field may not hold as they are.
static void escape(char *to, const char *text) {
    for (; *text; text++) {
        switch (*text) {
        case '+': to = strcpy(to, "%2B") + 3; break;
        case '/': to = strcpy(to, "%2F") + 3; break;
        case '=': to = strcpy(to, "%3D") + 3; break;
        default: *to++ = *text;
        }
    }
    *to = 0;
}

void make_token(char *token, size_t size) {
    char audience[128], text[192];
    snprintf(audience, sizeof audience, "https%%3a%%2f%%2f127.0.0.1%%2f");
    long long expiry = (long long)time(NULL) + 3600;
    int length = snprintf(text, sizeof text, "%s\n%lld", audience, expiry);
    unsigned char code[EVP_MAX_MD_SIZE], base64[128];
    unsigned int count = 0;
    HMAC(EVP_sha256(), options.key, (int)strlen(options.key), (const unsigned char *)text, (size_t)length, code, &count);
    EVP_EncodeBlock(base64, code, (int)count);
    char signature[256];
    escape(signature, (const char *)base64);
    snprintf(
        token, size, "SharedAccessSignature sr=%s&sig=%s&se=%lld&skn=%s", audience, signature, expiry, options.key_name);
}
