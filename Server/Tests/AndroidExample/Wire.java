package org.example.shop;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;

/** What lies between phone and server: it passes everything on, records it, and spoils what a test asks for. */
final class Wire implements AutoCloseable {
    enum Fault { NONE, FLIP, LENGTHEN, REDIRECT, BUSY, FOREIGN_404, LOSE_ANSWER, MEANWHILE }

    private final Machine machine;
    private final HttpServer phoneSide = listening();
    private final HttpServer store = listening();
    /** Method and path of each request. */
    final List<String> seen = new CopyOnWriteArrayList<>();
    /** When each came. */
    final List<Long> times = new CopyOnWriteArrayList<>();
    final List<String> authorizationsAtStore = new CopyOnWriteArrayList<>();
    private volatile Fault fault = Fault.NONE;
    private volatile String struck = "";
    private volatile int left;
    private volatile byte[] stored;
    /** What happens before the phone gets an answer that the server has given. */
    volatile Runnable meanwhile;
    /** Of each spoiled answer, whether the phone did not take it to its end. */
    final BlockingQueue<Boolean> cutOff = new LinkedBlockingQueue<>();

    Wire(Machine machine) throws IOException {
        this.machine = machine;
        phoneSide.createContext("/", this::pass);
        store.createContext("/", exchange -> {
            authorizationsAtStore.add(String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")));
            answer(exchange, 200, "image/png", stored);
        });
    }

    private static HttpServer listening() throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0), 0);
        server.setExecutor(Executors.newCachedThreadPool());
        server.start();
        return server;
    }

    String address() { return "http://127.0.0.1:" + phoneSide.getAddress().getPort(); }

    /** The next requests, so many of them, whose method and path match the expression. */
    void spoil(Fault fault, String requests, int count) {
        seen.clear();
        times.clear();
        this.fault = fault;
        struck = requests;
        left = count;
        cutOff.clear();
    }

    long count(String requests) { return seen.stream().filter(each -> each.matches(requests)).count(); }

    @Override public void close() {
        for (HttpServer server : new HttpServer[] {phoneSide, store}) {
            server.stop(0);
            ((ExecutorService) server.getExecutor()).shutdown();
        }
    }

    private void pass(HttpExchange exchange) throws IOException {
        times.add(System.nanoTime());
        String line = exchange.getRequestMethod() + " " + exchange.getRequestURI();
        seen.add(line);
        byte[] body = exchange.getRequestBody().readAllBytes();
        Fault now = left > 0 && line.matches(struck) ? fault : Fault.NONE;
        if (now != Fault.NONE) left--;
        if (now == Fault.BUSY) answer(exchange, 503, "application/json", "{\"code\":\"overloaded\"}".getBytes());
        if (now == Fault.FOREIGN_404) answer(exchange, 404, "text/html", "<p>not here</p>".getBytes());
        if (now == Fault.BUSY || now == Fault.FOREIGN_404) return;
        try {
            forward(exchange, body, now);
        } catch (IOException error) {
            // The server is not there, and so is not this answer.
            exchange.close();
        }
    }

    private void forward(HttpExchange exchange, byte[] body, Fault now) throws IOException {
        URI address = URI.create(machine.server + exchange.getRequestURI());
        HttpURLConnection connection = (HttpURLConnection) address.toURL().openConnection();
        connection.setRequestMethod(exchange.getRequestMethod());
        for (Map.Entry<String, List<String>> header : exchange.getRequestHeaders().entrySet()) {
            connection.setRequestProperty(header.getKey(), header.getValue().get(0));
        }
        if (body.length > 0) {
            connection.setDoOutput(true);
            connection.getOutputStream().write(body);
        }
        int status = connection.getResponseCode();
        byte[] bytes = RichPushCalls.read(status < 400 ? connection.getInputStream() : connection.getErrorStream(), 1 << 24,
            RichPushCalls.after(30));
        if (now == Fault.LOSE_ANSWER) throw new IOException("lost");
        if (now == Fault.MEANWHILE) meanwhile.run();
        if (now == Fault.FLIP) bytes[bytes.length / 2] ^= 1;
        if (now == Fault.LENGTHEN) bytes = Arrays.copyOf(bytes, bytes.length + 50_000_000);
        if (now == Fault.REDIRECT) {
            stored = bytes;
            exchange.getResponseHeaders().add("Location", "http://127.0.0.1:" + store.getAddress().getPort() + "/content");
            status = 307;
            bytes = new byte[0];
        }
        boolean wasCutOff = !answer(exchange, status, String.valueOf(connection.getContentType()), bytes);
        if (now != Fault.NONE) cutOff.add(wasCutOff);
    }

    /** Whether all of it was taken. */
    private static boolean answer(HttpExchange exchange, int status, String type, byte[] bytes) throws IOException {
        exchange.getResponseHeaders().add("Content-Type", type);
        exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
        try {
            if (bytes.length > 0) exchange.getResponseBody().write(bytes);
            return true;
        } catch (IOException error) {
            return false;
        } finally {
            exchange.close();
        }
    }
}
