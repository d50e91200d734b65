#include "sink.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what) {
    fprintf(stderr, "apns-sink: %s\n", what);
    ERR_print_errors_fp(stderr);
    exit(1);
}

static void add_extension(X509 *certificate, int kind, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
    if (!extension || !X509_add_ext(certificate, extension, -1)) fail("no certificate extension");
    X509_EXTENSION_free(extension);
}

// A self-signed certificate for this run; the client is configured to trust it.
static X509 *make_certificate(EVP_PKEY *key) {
    X509 *certificate = X509_new();
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 86400);
    X509_set_pubkey(certificate, key);
    X509_NAME *name = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"localhost", -1, -1, 0);
    X509_set_issuer_name(certificate, name);
    add_extension(certificate, NID_basic_constraints, "critical,CA:TRUE");
    add_extension(certificate, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
    if (!X509_sign(certificate, key, EVP_sha256())) fail("the certificate cannot be signed");
    return certificate;
}

static int choose_protocol(SSL *tls, const unsigned char **out, unsigned char *length, const unsigned char *offered,
                           unsigned int offered_length, void *context) {
    (void)tls;
    (void)context;
    for (unsigned int at = 0; at < offered_length; at += offered[at] + 1u) {
        if (offered[at] == 2 && offered_length - at > 2 && memcmp(offered + at + 1, "h2", 2) == 0) {
            *out = offered + at + 1;
            *length = 2;
            return SSL_TLSEXT_ERR_OK;
        }
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL;
}

SSL_CTX *make_tls_context(const char *certificate_path) {
    EVP_PKEY *key = EVP_EC_gen("P-256");
    if (!key) fail("no key");
    X509 *certificate = make_certificate(key);
    if (certificate_path) {
        FILE *file = fopen(certificate_path, "w");
        if (!file || !PEM_write_X509(file, certificate) || fclose(file)) fail("the certificate cannot be written");
    }
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (!context) fail("no TLS context");
    SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
    // The same cipher for every client, so that none is measured on another one.
    SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256");
    SSL_CTX_set_num_tickets(context, 0);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_default_read_buffer_len(context, 128 * 1024);
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, NULL);
    if (SSL_CTX_use_certificate(context, certificate) != 1 || SSL_CTX_use_PrivateKey(context, key) != 1) {
        fail("the certificate cannot be used");
    }
    X509_free(certificate);
    EVP_PKEY_free(key);
    return context;
}
