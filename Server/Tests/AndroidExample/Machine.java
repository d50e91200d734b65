package org.example.shop;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.json.JSONArray;
import org.json.JSONObject;
import org.json.JSONTokener;

/** The real server and the local FCM as processes, and what an operator and a service ask of them. */
final class Machine implements AutoCloseable {
    private final String program;
    private final File folder;
    private final List<Process> processes = new ArrayList<>();
    private final HttpClient client;
    private final String fcm;
    /** Where the local FCM is administered. */
    private final String administration;
    private final String key;
    private Process serving;
    String server;

    Machine(String program, File folder) throws Exception {
        this.program = program;
        this.folder = folder;
        Matcher emulator = started("(?=.*Local FCM [^\n]* on (https://\\S+))(?=.*page +(http://\\S+/fcm)\\s)", "emulator", "--fcm-port", "0", "--port", "0",
            "--management-port", "0", "--production-management-port", "0", "--admin-port", "0", "--directory", folder + "/emulator");
        fcm = emulator.group(1);
        administration = emulator.group(2);
        // As it comes, it offers the server another protocol with each first request of a connection.
        client = HttpClient.newHttpClient();
        serve();
        Process made = builder("key", "create", "test", "--scope", "send", "status", "sign-in", "devices", "users").start();
        key = new String(made.getInputStream().readAllBytes()).trim();
    }

    void serve() throws Exception {
        String authority = folder + "/emulator/authority.pem";
        server = started("Listening on (http://\\S+)\\s", "serve", "--listen-port", "0", "--fcm-host", "127.0.0.1", "--fcm-port",
            fcm.substring(fcm.lastIndexOf(':') + 1), "--fcm-trust-roots-path", authority,
            "--fcm-key-path", folder + "/emulator/fcm-service-account.json").group(1);
        serving = processes.get(processes.size() - 1);
    }

    /** kill -9. */
    void killServer() throws Exception { serving.destroyForcibly().waitFor(); }

    @Override public void close() {
        for (Process process : processes) process.destroy();
        for (Process process : processes) {
            process.onExit().completeOnTimeout(process, 20, TimeUnit.SECONDS).join();
            process.destroyForcibly();
        }
    }

    private ProcessBuilder builder(String... arguments) {
        // To a pipe the output would come in blocks, and the address at the end.
        List<String> command = new ArrayList<>(Arrays.asList("scripts/without-privileges", "stdbuf", "-oL", program));
        command.addAll(Arrays.asList(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.appendTo(new File(folder, "log")));
        builder.environment().put("CLARION_DATA_DIRECTORY", folder + "/data");
        return builder;
    }

    /** Starts a process, and waits until what it prints matches. */
    private Matcher started(String pattern, String... arguments) throws Exception {
        Process process = builder(arguments).start();
        processes.add(process);
        Pattern wanted = Pattern.compile(pattern, Pattern.DOTALL);
        CompletableFuture<Matcher> address = new CompletableFuture<>();
        Thread reader = new Thread(() -> {
            try (BufferedReader lines = new BufferedReader(new InputStreamReader(process.getInputStream()))) {
                StringBuilder printed = new StringBuilder();
                for (String line; (line = lines.readLine()) != null;) {
                    Matcher found = wanted.matcher(printed.append(line).append('\n'));
                    if (!address.isDone() && found.find()) address.complete(found);
                }
                address.completeExceptionally(new IOException(arguments[0] + " ended"));
            } catch (IOException error) {
                address.completeExceptionally(error);
            }
        });
        reader.setDaemon(true);
        reader.start();
        return address.get(60, TimeUnit.SECONDS);
    }

    private Object call(String method, String address, String type, byte[] body) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(address)).timeout(Duration.ofSeconds(30));
        request.header("Content-Type", type);
        request.method(method, body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofByteArray(body));
        if (!address.startsWith(administration)) request.header("Authorization", "Bearer " + key);
        HttpResponse<String> answer = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
        String text = answer.body();
        if (answer.statusCode() >= 300) throw new IOException(method + " " + address + ": " + answer.statusCode() + " " + text);
        return text.isEmpty() ? new JSONObject() : new JSONTokener(text).nextValue();
    }

    /** A call of the server with the service key; the body may be null. */
    JSONObject api(String method, String path, String body) throws Exception {
        return (JSONObject) call(method, server + "/api/v1/" + path, "application/json", body == null ? null : body.getBytes());
    }

    /** A call of the local FCM's administration. */
    JSONObject fcm(String method, String path, String body) throws Exception {
        byte[] bytes = body == null ? null : body.replace('\'', '"').getBytes();
        return (JSONObject) call(method, administration + "/" + path, "application/json", bytes);
    }

    String signInToken(String user) throws IOException {
        try {
            return api("POST", "sign-in-tokens", "{\"user\":\"" + user + "\"}").getString("token");
        } catch (Exception error) {
            throw new IOException(error);
        }
    }

    JSONArray devices(String user) throws Exception {
        return api("GET", "installations?user=" + user, null).getJSONArray("devices");
    }

    /** Installs the app on a simulated phone; its registration token. */
    String installed(String phone) throws Exception {
        String body = "{'project':'clarion-demo','package':'org.example.shop','platform':'android'}";
        return fcm("PUT", "devices/" + phone, body).getString("token");
    }

    String stored(byte[] picture) throws Exception {
        JSONObject answer = (JSONObject) call("POST", server + "/api/v1/content", "image/png", picture);
        return answer.getString("id");
    }

    /** Sends and returns the rich id; the fields are those of SendRequest, as JSON without braces. */
    String sent(String fields) throws Exception {
        return api("POST", "notifications", "{" + fields.replace('\'', '"') + "}").getString("id");
    }

    /** What the phone's app got, under that rich id. */
    JSONObject message(String phone, String id) throws Exception {
        long end = System.nanoTime() + 20_000_000_000L;
        while (System.nanoTime() < end) {
            JSONArray events = fcm("GET", "devices/" + phone, null).getJSONArray("events");
            for (int place = 0; place < events.length(); place++) {
                JSONObject message = events.getJSONObject(place).optJSONObject("message");
                JSONObject data = message == null ? new JSONObject() : message.getJSONObject("data");
                if (data.optString("richId").equals(id)) return data;
            }
            Thread.sleep(50);
        }
        throw new IOException(phone + " did not get " + id);
    }

    /** The counts of receipts that the server has of a send. */
    String receipts(String id) throws Exception {
        return Harness.sorted(api("GET", "notifications/" + id + "/status", null).getJSONObject("receipts"));
    }

    static byte[] bytes(File file) throws IOException { return Files.readAllBytes(file.toPath()); }
}
