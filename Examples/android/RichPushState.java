package org.example.shop;

import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/** What RichPush keeps, in one file that is replaced as a whole: a process that ends in between leaves the former one. */
final class RichPushState {
    interface Edit { void make(JSONObject now) throws JSONException; }

    /** A user on this phone, until a sign-out or another user. */
    static final class Session {
        final String id, user, installation, credential;

        private Session(JSONObject now) {
            id = now.optString("session");
            user = now.optString("user");
            installation = now.optString("installation");
            credential = now.optString("credential");
        }
    }

    private static final int KEPT_RECEIPTS = 100;
    private static final int KEPT_IDS = 100;
    private static final int KEPT_ENDINGS = 5;

    private final File folder;
    private JSONObject state;

    RichPushState(File folder) throws IOException {
        this.folder = folder;
        File kept = new File(folder, "state.json");
        state = kept.exists() ? read(kept) : new JSONObject();
    }

    private static JSONObject read(File kept) throws IOException {
        try {
            return RichPushCalls.json(RichPushCalls.read(new FileInputStream(kept), 1 << 20, RichPushCalls.after(10)));
        } catch (RichPush.Failure damaged) {
            // The user signs in anew; an app that cannot start would be worse.
            return new JSONObject();
        }
    }

    synchronized JSONObject copy() {
        try {
            return new JSONObject(state.toString());
        } catch (JSONException error) {
            throw new IllegalStateException(error);
        }
    }

    synchronized void edit(Edit edit) throws IOException {
        JSONObject next = copy();
        try {
            edit.make(next);
        } catch (JSONException error) {
            throw new RichPush.Failure("bad-answer");
        }
        File part = new File(folder, "state.part");
        try (FileOutputStream out = new FileOutputStream(part)) {
            out.write(next.toString().getBytes(StandardCharsets.UTF_8));
            out.getFD().sync();
        }
        if (!part.renameTo(new File(folder, "state.json"))) throw new IOException("state.json cannot be written");
        state = next;
    }

    /** Changes it for this session alone. */
    synchronized void edit(Session own, Edit edit) throws IOException {
        if (isCurrent(own)) edit(edit);
    }

    /** The session, or null. */
    synchronized Session session() { return state.has("credential") ? new Session(state) : null; }

    boolean isCurrent(Session own) {
        Session now = session();
        return own != null && now != null && now.id.equals(own.id);
    }

    /** The answer to a registration with a sign-in token. Of another user than before nothing stays. */
    static void begin(JSONObject now, JSONObject answer, boolean isSameUser) throws JSONException {
        if (!isSameUser) {
            now.put("session", UUID.randomUUID().toString());
            now.remove("receipts");
            now.remove("shown");
        }
        now.put("user", answer.getString("user")).put("credential", answer.getString("credential"));
    }

    /** Forgets the user. What ends the session at the server is kept until it has. */
    static void leave(JSONObject now) throws JSONException {
        JSONArray leaving = now.optJSONArray("leaving");
        if (now.has("credential")) {
            JSONObject former = new JSONObject().put("installation", now.get("installation"));
            leaving = appended(leaving, former.put("credential", now.get("credential")), KEPT_ENDINGS);
        }
        for (String name : Arrays.asList("session", "user", "credential", "installation", "registered", "receipts", "shown")) {
            now.remove(name);
        }
        now.put("leaving", leaving);
    }

    /** Keeps a receipt, once. What cannot be kept must not cost a notification its text. */
    void note(Session own, String id, String kind, String action) {
        if (id == null) return;
        try {
            JSONObject receipt = new JSONObject().put("id", id).put("kind", kind).put("action", action);
            edit(own, now -> {
                JSONArray known = now.optJSONArray("receipts");
                for (int place = 0; known != null && place < known.length(); place++) {
                    JSONObject other = new JSONObject(known.getString(place));
                    other.remove("at");
                    if (other.toString().equals(receipt.toString())) return;
                }
                receipt.put("at", System.currentTimeMillis());
                now.put("receipts", appended(known, receipt, KEPT_RECEIPTS));
            });
        } catch (IOException | JSONException error) {
            // This receipt is lost.
        }
    }

    void noteShown(String id) {
        try {
            edit(session(), now -> now.put("shown", appended(now.optJSONArray("shown"), id, KEPT_IDS)));
        } catch (IOException error) {
            // A repeat takes the place of the first.
        }
    }

    boolean wasShown(String id) { return id != null && contains(copy().optJSONArray("shown"), id); }

    private static JSONArray appended(JSONArray list, Object value, int limit) {
        JSONArray longer = new JSONArray();
        int length = list == null ? 0 : list.length();
        for (int place = Math.max(0, length + 1 - limit); place < length; place++) longer.put(list.opt(place));
        return longer.put(value);
    }

    /** Null when nothing is left, which removes the list. */
    static JSONArray without(JSONArray list, JSONArray gone) {
        JSONArray left = new JSONArray();
        for (int place = 0; list != null && place < list.length(); place++) {
            if (!contains(gone, list.opt(place))) left.put(list.opt(place));
        }
        return left.length() == 0 ? null : left;
    }

    private static boolean contains(JSONArray list, Object value) {
        for (int place = 0; list != null && place < list.length(); place++) {
            if (list.opt(place).toString().equals(value.toString())) return true;
        }
        return false;
    }
}
