package org.example.shop;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TimeZone;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/**
 * Rich push for one app on one phone: registers, receives, fetches and reports. See Documentation/AddToAnAndroidApp.md.
 *
 * <p>It needs Java and org.json alone, which every Android has. A process has one object. Calls may come from any thread but the
 * main one, because they wait for the network.
 */
public final class RichPush {
    /** What the app adds. It calls nothing here from inside of these. */
    public interface App {
        /** A sign-in token of the app's user for this installation (OwnAccounts.md); null when no user is signed in to the app. */
        String signInToken(String installation) throws IOException;

        /** What is registered beside the token, such as tags and permission: fields of InstallationUpdate in openapi.yaml. */
        JSONObject facts();

        /** The user has changed or is gone: what is on the screen is not for the next one. */
        void userChanged();
    }

    /** What to show. Whatever is absent is null. */
    public static final class Received {
        /** The rich id. A plain text has none, and nothing can be fetched or reported for it. */
        public String id;
        public String title, subtitle, text, altText;
        /** Notifications with the same one belong together. */
        public String thread;
        public boolean isSilent;
        /** The number on the icon; without one the launcher counts. */
        public Integer badge;
        /** Its bytes are those that the server described. */
        public File picture;
    }

    /** A call that failed. The code is the server's (Errors.md), or one like offline, timed-out, signed-out, content-mismatch. */
    public static final class Failure extends IOException {
        private static final long serialVersionUID = 1;
        public final String code;
        /** Of the answer; 0 without one. */
        public final int status;
        /** Whether the same call may succeed later. */
        public final boolean isTransient;
        /** How long the server wants a repeat to wait, in milliseconds. */
        final long pause;

        Failure(String code, int status, boolean isTransient, long pause) {
            super(code);
            this.code = code;
            this.status = status;
            this.isTransient = isTransient;
            this.pause = pause;
        }

        Failure(String code) { this(code, 0, code.equals("offline") || code.equals("timed-out"), 0); }
    }

    private interface Signed<T> { T make(String credential) throws IOException; }

    /** Firebase gives a message about ten seconds, of which showing it takes some. */
    private static final long RECEIVE_SECONDS = 8;
    private static final long CALL_SECONDS = 30;
    private static final long DAY = 86_400_000;
    private static final int KEPT_PICTURES = 20;
    private static final long LONGEST_PICTURE = 2 << 20;
    private static final List<String> PICTURES = Arrays.asList("image/png", "image/jpeg", "image/gif", "image/webp");

    private final RichPushCalls calls;
    private final RichPushState state;
    private final File pictures;
    private final App app;
    private final ReentrantLock settling = new ReentrantLock();
    private final Object registering = new Object();

    /**
     * Reads what an earlier process has kept; nothing is sent yet.
     *
     * @param server its address: https, or http to this machine, which an emulator calls 10.0.2.2
     * @param folder private to the app, and in no backup: another phone must not get the credential
     */
    public RichPush(String server, File folder, App app) throws IOException {
        calls = new RichPushCalls(server);
        pictures = new File(folder, "pictures");
        if (!pictures.isDirectory() && !pictures.mkdirs()) throw new IOException(pictures + " cannot be made");
        state = new RichPushState(folder);
        this.app = app;
    }

    /** The signed-in user, or null. */
    public String user() {
        RichPushState.Session own = state.session();
        return own == null ? null : own.user;
    }

    /** Signs the app's user in on this phone. The app's sign-in token is used once and kept nowhere. */
    public String signIn(String registrationToken) throws IOException {
        synchronized (registering) {
            state.edit(now -> now.put("handle", registrationToken));
            exchange(RichPushCalls.after(CALL_SECONDS));
            return user();
        }
    }

    /** Ends the session here at once, and at the server as soon as it can be reached. Receipts that wait are lost. */
    public void signOut() throws IOException {
        synchronized (registering) {
            endSession();
        }
        settle(CALL_SECONDS);
    }

    /** FCM has given a registration token, another one or the same at a start of the app. Returns whether the server knows it. */
    public boolean newToken(String registrationToken) {
        try {
            // Stored first: the server gets it later if it cannot be reached now.
            state.edit(now -> now.put("handle", registrationToken));
            return settle(CALL_SECONDS);
        } catch (IOException error) {
            return false;
        }
    }

    /**
     * Makes of a message what to show, within eight seconds. Null means that nothing is shown: the message is for another user, was
     * shown already, was recalled, or has no words and cannot be fetched.
     */
    public Received receive(Map<String, String> data) {
        RichPushState.Session own = state.session();
        String id = richId(data.get("richId"));
        if (own == null || isForAnother(own, id, data.get("richFor")) || state.wasShown(id)) return null;
        Received received = new Received();
        received.id = id;
        received.title = data.get("title");
        received.subtitle = data.get("subtitle");
        received.text = data.get("body");
        received.thread = data.get("thread");
        received.isSilent = data.get("sound") == null;
        received.badge = badge(data.get("badge"));
        state.note(own, id, "delivered", null);
        try {
            if (id != null) enrich(received, own, RichPushCalls.after(RECEIVE_SECONDS));
        } catch (Failure failure) {
            // Recalled, or never this user's; and without a credential that holds there is no user.
            if (failure.code.equals("not-found") || failure.code.equals("signed-out") || failure.status == 401) return null;
            state.note(own, id, "failed", failure.code);
        } catch (IOException error) {
            state.note(own, id, "failed", "storage");
        }
        boolean hasWords = received.title != null || received.subtitle != null || received.text != null;
        if (hasWords && state.isCurrent(own)) return received;
        // There is nothing to say, or the user has changed meanwhile.
        if (received.picture != null) received.picture.delete();
        return null;
    }

    /** To be called when it is on the screen: a repeat is not shown again. */
    public void shown(Received received) {
        if (received.id != null) state.noteShown(received.id);
    }

    /** Keeps a receipt until settle has sent it: opened, dismissed, action or failed. Only the last two have an action. */
    public void report(String id, String kind, String action) {
        state.note(state.session(), richId(id), kind, action);
    }

    /**
     * Does what waits: ends former sessions at the server, registers what has changed, and sends receipts. Returns whether all is
     * done; if not, or when another thread is at it, it is to be called again later.
     */
    public boolean settle(long seconds) {
        if (!settling.tryLock()) return false;
        try {
            long end = RichPushCalls.after(seconds);
            endFormer(end);
            RichPushState.Session own = state.session();
            if (own == null) return true;
            register(own, end);
            JSONArray receipts = state.copy().optJSONArray("receipts");
            if (receipts != null) send(own, receipts, end);
            return !state.copy().has("receipts");
        } catch (IOException error) {
            return false;
        } finally {
            settling.unlock();
        }
    }

    // Fetching

    private void enrich(Received received, RichPushState.Session own, long end) throws IOException {
        String path = "/api/v1/notifications/" + received.id;
        byte[] answer = signed(own, end, credential -> calls.request("GET", path + "/details", credential, null, end));
        JSONObject details = RichPushCalls.json(answer);
        // What is sealed has no words here.
        if (!details.optString("message").isEmpty()) {
            received.title = RichPushCalls.text(details, "title");
            received.subtitle = RichPushCalls.text(details, "subtitle");
            received.text = RichPushCalls.text(details, "message");
        }
        received.altText = RichPushCalls.text(details, "altText");
        JSONObject small = details.optJSONObject("thumb");
        JSONObject file = small != null ? small : details.optJSONObject("content");
        long size = file == null ? -1 : file.optLong("byteCount", -1);
        if (size < 0 || size > LONGEST_PICTURE || !PICTURES.contains(file.optString("mediaType"))) return;
        received.picture = picture(own, path + (small != null ? "?variant=thumb" : ""), size, file.optString("sha256"), end);
        state.note(own, received.id, "fetched", null);
    }

    /** A file with exactly the bytes that the server described. No other file ever gets this name. */
    private File picture(RichPushState.Session own, String path, long size, String sha256, long end) throws IOException {
        if (!sha256.matches("[0-9a-f]{64}")) throw new Failure("bad-answer");
        File[] kept = pictures.listFiles();
        if (kept != null && kept.length >= KEPT_PICTURES) {
            Arrays.sort(kept, (one, other) -> Long.compare(one.lastModified(), other.lastModified()));
            for (File old : Arrays.copyOf(kept, kept.length - KEPT_PICTURES + 1)) old.delete();
        }
        File target = new File(pictures, sha256);
        File part = new File(pictures, UUID.randomUUID().toString());
        try {
            signed(own, end, credential -> calls.download(path, credential, part, size, sha256, end));
            if (!part.renameTo(target)) throw new Failure("storage");
            return target;
        } finally {
            part.delete();
        }
    }

    // Registering

    /** Exchanges a sign-in token for a credential. An installation of another user stays theirs, and this user gets a new one. */
    private void exchange(long end) throws IOException {
        for (boolean isRepeat = false;; isRepeat = true) {
            // Stored first: a repeat after a lost answer takes the same place.
            state.edit(now -> now.put("installation", now.optString("installation", UUID.randomUUID().toString())));
            String installation = state.copy().optString("installation");
            String token = signInToken(installation);
            JSONObject body = registration();
            try {
                byte[] answer = calls.repeated(end, () -> calls.request("PUT", installationPath(installation), token, body, end));
                begin(RichPushCalls.json(answer), body);
                return;
            } catch (Failure failure) {
                if (isRepeat || !failure.code.equals("registration-gone")) throw failure;
                endSession();
            }
        }
    }

    private String signInToken(String installation) throws IOException {
        String token;
        try {
            token = app.signInToken(installation);
        } catch (IOException error) {
            throw new Failure("token-unavailable");
        }
        if (token != null) return token;
        endSession();
        throw new Failure("signed-out");
    }

    private void begin(JSONObject answer, JSONObject body) throws IOException {
        String former = user();
        boolean isSame = answer.optString("user").equalsIgnoreCase(former);
        state.edit(now -> {
            RichPushState.begin(now, answer, isSame);
            noteRegistered(now, body);
        });
        if (former != null && !isSame) clear();
    }

    /** Says what has changed, and all of it once a day. */
    private void register(RichPushState.Session own, long end) throws IOException {
        JSONObject body = registration();
        JSONObject now = state.copy();
        boolean isKnown = body.toString().equals(now.optString("registered"));
        if (isKnown && Math.abs(System.currentTimeMillis() - now.optLong("registeredAt")) < DAY) return;
        signed(own, end, credential -> calls.request("PUT", installationPath(own.installation), credential, body, end));
        state.edit(own, later -> noteRegistered(later, body));
    }

    private static void noteRegistered(JSONObject now, JSONObject body) throws JSONException {
        now.put("registered", body.toString()).put("registeredAt", System.currentTimeMillis());
    }

    private JSONObject registration() throws IOException {
        try {
            JSONObject body = new JSONObject(app.facts().toString());
            if (!body.has("tags")) body.put("tags", new JSONArray());
            body.put("locale", Locale.getDefault().toLanguageTag()).put("timeZone", TimeZone.getDefault().getID());
            return body.put("platform", "fcmv1").put("handle", RichPushCalls.text(state.copy(), "handle"));
        } catch (JSONException error) {
            throw new IOException(error);
        }
    }

    private void endFormer(long end) throws IOException {
        for (JSONArray leaving; (leaving = state.copy().optJSONArray("leaving")) != null;) {
            JSONObject former = leaving.optJSONObject(0);
            String path = installationPath(former.optString("installation"));
            try {
                calls.repeated(end, () -> calls.request("DELETE", path, former.optString("credential"), null, end));
            } catch (Failure failure) {
                if (failure.isTransient) throw failure;
            }
            state.edit(now -> now.put("leaving", RichPushState.without(now.optJSONArray("leaving"), new JSONArray().put(former))));
        }
    }

    private static String installationPath(String installation) { return "/api/v1/installations/" + installation; }

    private void endSession() throws IOException {
        state.edit(RichPushState::leave);
        clear();
    }

    private void clear() {
        File[] kept = pictures.listFiles();
        for (File old : kept == null ? new File[0] : kept) old.delete();
        app.userChanged();
    }

    // Calls

    /** Sends receipts, and one by one what the server refuses together: a bad one does not take the others with it. */
    private void send(RichPushState.Session own, JSONArray receipts, long end) throws IOException {
        try {
            JSONObject body = new JSONObject().put("receipts", receipts);
            signed(own, end, credential -> calls.request("POST", "/api/v1/receipts", credential, body, end));
        } catch (JSONException error) {
            throw new IOException(error);
        } catch (Failure failure) {
            if (failure.isTransient || failure.status == 401 || failure.status == 0) throw failure;
            if (receipts.length() > 1) {
                for (int place = 0; place < receipts.length(); place++) send(own, new JSONArray().put(receipts.opt(place)), end);
                return;
            }
        }
        state.edit(own, now -> now.put("receipts", RichPushState.without(now.optJSONArray("receipts"), receipts)));
    }

    /** Calls with the credential. When the server refuses it, the app is asked for a sign-in token, once. */
    private <T> T signed(RichPushState.Session own, long end, Signed<T> call) throws IOException {
        try {
            return calls.repeated(end, () -> call.make(own.credential));
        } catch (Failure failure) {
            if (failure.status != 401 || failure.isTransient) throw failure;
        }
        synchronized (registering) {
            // Another thread may have a new one already.
            if (state.isCurrent(own) && state.session().credential.equals(own.credential)) exchange(end);
        }
        RichPushState.Session now = state.session();
        if (now == null || !now.id.equals(own.id)) throw new Failure("signed-out");
        return calls.repeated(end, () -> call.make(now.credential));
    }

    // Whose it is

    /** A decimal number of 31 bits without a leading zero, or null. */
    private static String richId(String text) {
        boolean isNumber = text != null && text.matches("[1-9][0-9]{0,9}") && Long.parseLong(text) <= Integer.MAX_VALUE;
        return isNumber ? text : null;
    }

    /** A number from 0, or null. */
    private static Integer badge(String text) {
        return text != null && text.matches("[0-9]{1,9}") ? Integer.valueOf(text) : null;
    }

    /** The mark is the beginning of a hash over rich id and user, so only a phone that knows the user can compare it. */
    private static boolean isForAnother(RichPushState.Session own, String id, String mark) {
        if (mark == null) return false;
        String subject = "clarion subject 1\n" + id + "\n" + own.user.toLowerCase(Locale.ROOT);
        byte[] digest = RichPushCalls.sha256().digest(subject.getBytes(StandardCharsets.UTF_8));
        return !RichPushCalls.hexadecimal(digest, 8).equals(mark);
    }
}
