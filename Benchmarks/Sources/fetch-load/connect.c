#include "fetch.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

void open_connection(struct connection *connection, SSL_CTX *context, uint16_t port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int one = 1, descriptor = socket(AF_INET, SOCK_STREAM, 0);
    if (descriptor < 0 || connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0) fail("connect");
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    connection->socket = descriptor;
    connection->tls = SSL_new(context);
    if (!connection->tls || SSL_set_fd(connection->tls, descriptor) != 1 || SSL_connect(connection->tls) != 1) fail("handshake");
    if (fcntl(descriptor, F_SETFL, O_NONBLOCK) != 0) fail("fcntl");
}
