package org.example.shop;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.SocketTimeoutException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Locale;
import java.util.Random;
import org.json.JSONException;
import org.json.JSONObject;

/** The calls of RichPush to the server. Each has an end, in the time of System.nanoTime; no answer is read beyond a limit. */
final class RichPushCalls {
    private static final int ATTEMPTS = 3;
    private static final int REDIRECTS = 3;
    private static final int LONGEST_ANSWER = 1 << 20;

    /** Something that may fail for a while. */
    interface Attempt<T> { T make() throws IOException; }

    private final String server;
    private final Random random = new Random();

    RichPushCalls(String server) {
        if (!server.matches("https://[^/]+|http://(localhost|127\\.0\\.0\\.1|10\\.0\\.2\\.2)(:\\d+)?")) {
            throw new IllegalArgumentException("server: https and a host, without a path");
        }
        this.server = server;
    }

    /** Tries up to three times, at growing intervals that differ between phones. */
    <T> T repeated(long end, Attempt<T> attempt) throws IOException {
        for (int count = 1;; count++) {
            RichPush.Failure failure;
            try {
                return attempt.make();
            } catch (RichPush.Failure known) {
                failure = known;
            } catch (SocketTimeoutException error) {
                failure = new RichPush.Failure("timed-out");
            } catch (IOException error) {
                failure = new RichPush.Failure("offline");
            }
            long pause = Math.max(failure.pause, 200L << count);
            pause += (long) (pause * random.nextDouble());
            if (!failure.isTransient || count == ATTEMPTS || System.nanoTime() + pause * 1_000_000 > end) throw failure;
            try {
                Thread.sleep(pause);
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
                throw failure;
            }
        }
    }

    byte[] request(String method, String path, String bearer, JSONObject body, long end) throws IOException {
        byte[] bytes = body == null ? null : body.toString().getBytes(StandardCharsets.UTF_8);
        HttpURLConnection connection = open(method, path, bearer, bytes, end);
        return connection.getResponseCode() == 204 ? new byte[0] : read(connection.getInputStream(), LONGEST_ANSWER, end);
    }

    /** An answer with a status below 300. A store gets no credential of the server. */
    private HttpURLConnection open(String method, String path, String bearer, byte[] body, long end) throws IOException {
        URL url = new URL(server + path);
        for (int redirects = 0; redirects <= REDIRECTS; redirects++) {
            HttpURLConnection connection = (HttpURLConnection) url.openConnection();
            connection.setRequestMethod(method);
            connection.setInstanceFollowRedirects(false);
            connection.setUseCaches(false);
            connection.setConnectTimeout(milliseconds(end));
            if (url.toString().startsWith(server + "/")) connection.setRequestProperty("Authorization", "Bearer " + bearer);
            if (body != null) {
                connection.setDoOutput(true);
                connection.setRequestProperty("Content-Type", "application/json");
            }
            connection.connect();
            // What is left after connecting, for each wait for bytes; between them read looks at the end.
            connection.setReadTimeout(milliseconds(end));
            if (body != null) {
                try (OutputStream out = connection.getOutputStream()) {
                    out.write(body);
                }
            }
            int status = connection.getResponseCode();
            if (status < 300) return connection;
            String location = connection.getHeaderField("Location");
            if (status >= 400 || location == null || body != null) throw failure(connection, status, end);
            connection.disconnect();
            url = new URL(url, location);
            if (!url.getProtocol().equals("https") && !server.startsWith("http:")) break;
        }
        throw new RichPush.Failure("bad-redirect");
    }

    /** Only a problem document is the server's word: a proxy in front of one that restarts answers 404 too. */
    private static RichPush.Failure failure(HttpURLConnection connection, int status, long end) {
        String code = null;
        try {
            code = text(json(read(connection.getErrorStream(), LONGEST_ANSWER, end)), "code");
        } catch (IOException error) {
            // Then it has none.
        }
        boolean isTransient = code == null || status == 408 || status == 425 || status == 429 || status >= 500;
        long pause = Math.max(0, Math.min(connection.getHeaderFieldInt("Retry-After", 0), 3600)) * 1000L;
        return new RichPush.Failure(code == null ? "status-" + status : code, status, isTransient, pause);
    }

    static byte[] read(InputStream stream, long limit, long end) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        if (stream == null) return bytes.toByteArray();
        try (InputStream in = stream) {
            byte[] buffer = new byte[8192];
            for (int length; (length = in.read(buffer)) > 0;) {
                bytes.write(buffer, 0, length);
                if (bytes.size() > limit) throw new RichPush.Failure("bad-answer");
                milliseconds(end);
            }
        }
        return bytes.toByteArray();
    }

    static long after(long seconds) { return System.nanoTime() + seconds * 1_000_000_000; }

    private static int milliseconds(long end) throws RichPush.Failure {
        long left = (end - System.nanoTime()) / 1_000_000;
        if (left <= 0) throw new RichPush.Failure("timed-out");
        return (int) left;
    }

    /** Writes exactly the described bytes, or fails. */
    Void download(String path, String bearer, File part, long size, String sha256, long end) throws IOException {
        HttpURLConnection connection = open("GET", path, bearer, null, end);
        MessageDigest digest = sha256();
        long count = 0;
        try (InputStream in = connection.getInputStream(); OutputStream out = new FileOutputStream(part)) {
            byte[] buffer = new byte[16_384];
            for (int length; (length = in.read(buffer)) > 0;) {
                count += length;
                // A lying server does not fill the phone.
                if (count > size) throw new RichPush.Failure("too-large");
                milliseconds(end);
                digest.update(buffer, 0, length);
                out.write(buffer, 0, length);
            }
        } finally {
            connection.disconnect();
        }
        if (count != size || !hexadecimal(digest.digest(), 32).equals(sha256)) throw new RichPush.Failure("content-mismatch");
        return null;
    }

    static JSONObject json(byte[] bytes) throws RichPush.Failure {
        try {
            return new JSONObject(new String(bytes, StandardCharsets.UTF_8));
        } catch (JSONException error) {
            throw new RichPush.Failure("bad-answer");
        }
    }

    /** Null for what is absent. */
    static String text(JSONObject object, String name) { return object.isNull(name) ? null : object.optString(name); }

    static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException error) {
            throw new IllegalStateException(error);
        }
    }

    static String hexadecimal(byte[] bytes, int count) {
        StringBuilder text = new StringBuilder();
        for (byte each : Arrays.copyOf(bytes, count)) text.append(String.format(Locale.ROOT, "%02x", each));
        return text.toString();
    }
}
