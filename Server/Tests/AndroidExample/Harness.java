package org.example.shop;

import android.app.Notification;
import android.app.job.JobParameters;
import android.app.job.JobService;
import android.content.Context;
import android.content.Intent;
import androidx.core.app.NotificationManagerCompat;
import com.google.firebase.messaging.FirebaseMessaging;
import com.google.firebase.messaging.RemoteMessage;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import javax.imageio.ImageIO;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/**
 * Plays the phone: hands the messages of the local FCM to the code of Documentation/AddToAnAndroidApp.md, which talks to a real
 * server.
 *
 * <p>Arguments: the program, and a new folder. Ends with 0 when everything was as expected.
 */
public final class Harness implements RichPush.App {
    private static final String DETAILS = "GET .*/details", RECEIPTS = "POST .*/receipts";
    private static final String CONTENT = "GET .*/notifications/\\d+(\\?variant=thumb)?";
    private static int checks;

    private final Machine machine;
    private final Wire wire;
    private final File folder;
    private final byte[] picture = picture();
    private int changes;

    private Harness(Machine machine, Wire wire, File folder) {
        this.machine = machine;
        this.wire = wire;
        this.folder = folder;
    }

    @Override public String signInToken(String installation) throws IOException { return MyBackend.signInToken(installation); }

    @Override public JSONObject facts() { return new JSONObject(Collections.singletonMap("tags", new JSONArray().put("beta"))); }

    @Override public void userChanged() { changes++; }

    public static void main(String[] arguments) throws Exception {
        File folder = new File(arguments[1]);
        try (Machine machine = new Machine(arguments[0], folder); Wire wire = new Wire(machine)) {
            MyBackend.tokens = machine::signInToken;
            Harness harness = new Harness(machine, wire, folder);
            RichPush push = harness.open("ann");
            harness.checkRegistration(push);
            harness.checkContract();
            harness.checkShowing(push);
            harness.checkStrangers(push);
            harness.checkDamage(push);
            harness.checkNetwork(push);
            harness.checkReceipts(push);
            harness.checkToken(push);
            harness.checkCredential(push);
            harness.checkCrash();
            harness.checkUsers(harness.open("ann"));
            harness.checkService();
        }
        System.out.println(checks + " checks of the Android example passed");
    }

    /** What a new process finds of this phone. */
    private RichPush open(String phone) throws IOException { return new RichPush(wire.address(), place(phone), this); }

    private File place(String phone) { return new File(folder, phone); }

    private int pictures() { return new File(place("ann"), "pictures").list().length; }

    private JSONObject kept(String phone) throws Exception {
        return RichPushCalls.json(Machine.bytes(new File(place(phone), "state.json")));
    }

    /** A message for ann with the picture, as her phone gets it. */
    private Map<String, String> message() throws Exception {
        String content = machine.stored(picture);
        String id = machine.sent("'audience':'username:ann','title':'Lunch','message':'At noon?','contentId':'" + content + "'");
        return map(machine.message("ann", id));
    }

    private void checkRegistration(RichPush push) throws Exception {
        MyBackend.user = "Ann";
        String token = machine.installed("ann");
        check("without a user nothing is to do", push.settle(5), true);
        wire.spoil(Wire.Fault.LOSE_ANSWER, "PUT .*", 1);
        check("a sign-in whose answer was lost is repeated", push.signIn(token), "Ann");
        check("with the same installation", wire.seen.get(0), wire.seen.get(1));
        JSONObject device = machine.devices("ann").getJSONObject(0);
        check("the server has one device", machine.devices("ann").length(), 1);
        String seen = device.getString("platform") + " " + device.getString("handle") + " " + device.getJSONArray("tags");
        check("with platform, token and tags", seen, "fcmv1 " + token.substring(0, 6) + " [\"username:Ann\",\"beta\"]");
        wire.spoil(Wire.Fault.NONE, "", 0);
        check("the same token at the next start", push.newToken(token), true);
        check("asks nothing of the server", wire.seen.size(), 0);
    }

    private void checkContract() throws Exception {
        check("a message has these keys", message().keySet().toString(), "[body, richFor, richId, richType, sound]");
        String texts = "'title':'T','subtitle':'S','message':'M','preview':'open','badge':3,'thread':'t'";
        String open = machine.sent("'audience':'username:ann'," + texts);
        check("with an open preview these", map(machine.message("ann", open)).keySet().toString(),
            "[badge, body, richFor, richId, richMessage, richType, sound, subtitle, thread, title]");
        String silent = machine.sent("'audience':'username:ann','message':'M','style':'silent'");
        String keys = map(machine.message("ann", silent)).keySet().toString();
        check("and without words these", keys, "[richFor, richId, richType]");
    }

    private void checkShowing(RichPush push) throws Exception {
        Map<String, String> message = message();
        RichPush.Received received = push.receive(message);
        check("the server's texts are shown", received.title + ": " + received.text, "Lunch: At noon?");
        check("with the bytes that were sent", Machine.bytes(received.picture), picture);
        check("without a number, as the sender gave none", received.badge, null);
        String counted = machine.sent("'audience':'username:ann','message':'M','preview':'open','badge':3");
        check("or with the sender's", push.receive(map(machine.message("ann", counted))).badge, 3);
        push.shown(received);
        check("receipts leave", push.settle(30), true);
        check("and the server has them", machine.receipts(received.id), "{delivered=1, fetched=1}");
        wire.spoil(Wire.Fault.NONE, "", 0);
        check("a repeat is not shown", push.receive(message), null);
        check("nor by the next process", open("ann").receive(message), null);
        check("and asks nothing of the server", wire.seen.size(), 0);
        Map<String, String> silent = new TreeMap<>(message());
        silent.keySet().removeAll(Arrays.asList("title", "body"));
        RichPush.Received fetched = push.receive(silent);
        check("a message without words shows the server's", fetched.title + ": " + fetched.text, "Lunch: At noon?");
        wire.spoil(Wire.Fault.BUSY, DETAILS, 9);
        silent = new TreeMap<>(message());
        silent.keySet().removeAll(Arrays.asList("title", "body"));
        check("and nothing when the server cannot be asked", push.receive(silent), null);
        wire.spoil(Wire.Fault.NONE, "", 0);
        RichPush.Received plain = push.receive(Collections.singletonMap("body", "Hello"));
        check("a plain text is shown as it came", plain.text + " " + plain.id, "Hello null");
        for (String number : new String[] {"x", "-1", "", "9999999999"}) {
            check("a number cannot be '" + number + "'", push.receive(Map.of("body", "Hello", "badge", number)).badge, null);
        }
        for (String id : new String[] {"0", "01", "2147483648", "1/../2", ""}) {
            Map<String, String> bad = new TreeMap<>(Map.of("richId", id, "body", "Hello"));
            check("a rich id cannot be '" + id + "'", push.receive(bad).id, null);
        }
        check("and nothing was asked", wire.seen.size(), 0);
    }

    private void checkStrangers(RichPush push) throws Exception {
        MyBackend.user = "bob";
        String token = machine.installed("bob");
        open("bob").signIn(token);
        MyBackend.user = "ann";
        String marked = machine.sent("'audience':'username:bob','message':'For bob'");
        wire.spoil(Wire.Fault.NONE, "", 0);
        RichPush.Received received = push.receive(map(machine.message("bob", marked)));
        check("a message with another user's mark is not shown", received, null);
        check("and asks nothing of the server", wire.seen.size(), 0);
        Map<String, String> unmarked = map(machine.message("bob", machine.sent("'audience':'username:bob','message':'x'")));
        unmarked.remove("richFor");
        check("without a mark the server decides", push.receive(unmarked), null);
        check("by its details", wire.count(DETAILS), 1L);
        String several = machine.sent("'audience':'beta','message':'All'");
        check("one for several users is shown", push.receive(map(machine.message("ann", several))).text, "All");
        Map<String, String> recalled = message();
        machine.api("DELETE", "notifications/" + recalled.get("richId"), null);
        check("a recalled one is not shown", push.receive(recalled), null);
    }

    private void checkDamage(RichPush push) throws Exception {
        push.settle(30);
        for (Wire.Fault fault : new Wire.Fault[] {Wire.Fault.FLIP, Wire.Fault.LENGTHEN}) {
            for (File old : new File(place("ann"), "pictures").listFiles()) old.delete();
            Map<String, String> message = message();
            wire.spoil(fault, CONTENT, 1);
            RichPush.Received received = push.receive(message);
            check(fault + ": the texts are shown", received.text, "At noon?");
            check(fault + ": no picture", received.picture, null);
            check(fault + ": and no file", pictures(), 0);
            check(fault + ": it is not fetched again", wire.count(CONTENT), 1L);
            boolean isTooLong = fault == Wire.Fault.LENGTHEN;
            check(fault + ": bytes beyond the described ones are not taken", wire.cutOff.poll(30, TimeUnit.SECONDS), isTooLong);
            push.settle(30);
            check(fault + ": the server hears of it", machine.receipts(message.get("richId")), "{delivered=1, failed=1}");
        }
        wire.spoil(Wire.Fault.REDIRECT, CONTENT, 1);
        check("a store that is linked to gives the picture", Machine.bytes(push.receive(message()).picture), picture);
        check("and gets no credential", wire.authorizationsAtStore.toString(), "[null]");
        for (int round = 0; round < 25; round++) new File(place("ann"), "pictures/" + round).createNewFile();
        push.receive(message());
        check("twenty pictures are kept", pictures(), 20);
    }

    private void checkNetwork(RichPush push) throws Exception {
        wire.spoil(Wire.Fault.BUSY, DETAILS, 2);
        check("a busy server is asked three times", push.receive(message()).title, "Lunch");
        wire.spoil(Wire.Fault.BUSY, DETAILS, 99);
        check("then the message's own text is shown", push.receive(message()).text, "You have a new message");
        check("and it is asked no more", wire.count(DETAILS), 3L);
        push.receive(message());
        double[] pauses = new double[4];
        long[] times = wire.times.stream().mapToLong(Long::longValue).toArray();
        for (int place = 0; place < 4; place++) {
            int first = place / 2 * 3 + place % 2;
            pauses[place] = (times[first + 1] - times[first]) / 1e6 / (400 << place % 2);
        }
        check("the pauses are not below their least", Arrays.stream(pauses).allMatch(pause -> pause >= 0.8), true);
        check("and differ by chance", Arrays.stream(pauses).anyMatch(pause -> pause > 1.1), true);
        wire.spoil(Wire.Fault.FOREIGN_404, DETAILS, 1);
        check("a proxy's 404 is not the server's", push.receive(message()).title, "Lunch");
    }

    private void checkReceipts(RichPush push) throws Exception {
        wire.spoil(Wire.Fault.NONE, "", 0);
        push.settle(30);
        String id = message().get("richId");
        push.report(id, "action", "not valid!");
        push.report(id, "opened", null);
        push.report(id, "opened", null);
        check("a receipt is kept once", kept("ann").getJSONArray("receipts").length(), 2);
        check("a bad receipt does not stay", push.settle(30), true);
        check("and does not take the good one with it", machine.receipts(id), "{opened=1}");
        for (int number = 1; number <= 150; number++) push.report("" + number, "dismissed", null);
        JSONArray receipts = kept("ann").getJSONArray("receipts");
        String first = receipts.getJSONObject(0).getString("id");
        check("the newest hundred are kept", receipts.length() + " from " + first, "100 from 51");
        wire.spoil(Wire.Fault.FOREIGN_404, RECEIPTS, 99);
        check("a proxy takes no receipts", push.settle(30), false);
        check("and none is lost", kept("ann").getJSONArray("receipts").length(), 100);
        wire.spoil(Wire.Fault.NONE, "", 0);
        check("they leave together", push.settle(30) + " " + wire.seen.size(), "true 1");
    }

    private void checkToken(RichPush push) throws Exception {
        machine.fcm("POST", "devices/ann/actions", "{'action':'renewToken'}");
        String token = machine.installed("ann");
        wire.spoil(Wire.Fault.BUSY, "PUT .*", 99);
        check("a new token that the server cannot take yet", push.newToken(token), false);
        wire.spoil(Wire.Fault.NONE, "", 0);
        check("is taken later, also from the next process", open("ann").settle(30), true);
        check("in place of the former one", machine.devices("ann").length(), 1);
        check("and messages arrive there", message().get("richType"), "img");
    }

    private void checkCredential(RichPush push) throws Exception {
        push = open("ann");
        Map<String, String> message = message();
        machine.api("DELETE", "users/ann/sessions", null);
        int asked = MyBackend.asked;
        check("with a credential that is void the picture comes", Machine.bytes(push.receive(message).picture), picture);
        check("after the app was asked once", MyBackend.asked - asked, 1);
        check("and the phone is registered again", machine.devices("ann").length(), 1);
        push.settle(30);
        check("so messages arrive", message().get("richType"), "img");
        message = message();
        machine.api("DELETE", "users/ann/sessions", null);
        MyBackend.user = "bob";
        check("what is for ann is not shown when the app has another user", push.receive(message), null);
        check("whose session begins", push.user() + " " + changes, "bob 1");
        message = map(machine.message("ann", machine.sent("'audience':'username:bob','message':'For bob'")));
        machine.api("DELETE", "users/bob/sessions", null);
        MyBackend.user = null;
        check("an app without a user shows nothing", push.receive(message), null);
        check("and its session has ended", push.user() + " " + changes, "null 2");
        MyBackend.user = "ann";
        push.signIn(machine.installed("ann"));
    }

    private void checkCrash() throws Exception {
        RichPush push = open("ann");
        Map<String, String> message = message();
        RichPush.Received received = push.receive(message);
        push.shown(received);
        machine.killServer();
        push.report(received.id, "opened", null);
        check("a killed server gets no receipt", push.settle(5), false);
        // So has the process of the app.
        push = open("ann");
        check("nor from the next process", push.settle(5), false);
        machine.serve();
        check("a server that is there again gets them", push.settle(30), true);
        check("each of them", machine.receipts(received.id), "{delivered=1, fetched=1, opened=1}");
    }

    private void checkUsers(RichPush push) throws Exception {
        Map<String, String> message = message();
        push.receive(message);
        int before = changes;
        MyBackend.user = "bob";
        check("another user signs in", push.signIn(machine.installed("ann")), "bob");
        check("what was on the screen goes", changes - before, 1);
        check("with pictures and receipts", pictures() + " " + kept("ann").has("receipts"), "0 false");
        check("and the first user's messages", push.receive(message), null);
        check("at the server the phone is bob's", machine.devices("ann").length() + " " + machine.devices("bob").length(), "0 1");
        machine.fcm("POST", "devices/ann/actions", "{'action':'renewToken'}");
        MyBackend.user = "ann";
        check("an installation of another user stays theirs", push.signIn(machine.installed("ann")), "Ann");
        push.settle(30);
        check("until their session has ended", machine.devices("ann").length() + " " + machine.devices("bob").length(), "1 0");
        machine.killServer();
        push.signOut();
        check("a sign-out without the server leaves no user", push.user() + " " + kept("ann").has("credential"), "null false");
        machine.serve();
        check("and ends the session later", open("ann").settle(30) + " " + machine.devices("ann").length(), "true 0");
        check("nothing of it is kept then", kept("ann").has("leaving"), false);
        push.signIn(machine.installed("ann"));
        message = message();
        wire.meanwhile = () -> {
            try {
                push.signOut();
            } catch (IOException error) {
                throw new IllegalStateException(error);
            }
        };
        wire.spoil(Wire.Fault.MEANWHILE, CONTENT, 1);
        check("a user who signs out while it is fetched sees nothing", push.receive(message), null);
        check("and leaves no picture", pictures() + " " + push.user(), "0 null");
        Files.write(new File(place("ann"), "state.json").toPath(), new byte[] {'{', 0});
        check("a damaged file is no session", open("ann").user(), null);
        try {
            new RichPush("http://push.example.com", folder, this);
            check("plain http to another machine", "taken", "refused");
        } catch (IllegalArgumentException error) {
            check("plain http to another machine is refused", error.getMessage().startsWith("server:"), true);
        }
    }

    /** The classes of the page and the service, on stand-ins for Android. */
    private void checkService() throws Exception {
        System.setProperty("server", wire.address());
        System.setProperty("folder", folder + "/service");
        MyBackend.user = "ann";
        FirebaseMessaging.token = machine.installed("ann");
        Shop shop = new Shop();
        shop.onCreate();
        shop.signedIn();
        for (int round = 0; round < 200 && machine.devices("ann").length() == 0; round++) Thread.sleep(50);
        check("the app of the page registers", machine.devices("ann").getJSONObject(0).getString("permission"), "granted");
        RichPushMessagingService service = new RichPushMessagingService();
        service.attach(shop);
        Map<String, String> message = message();
        message.put("badge", "3");
        for (int round = 0; round < 2; round++) service.onMessageReceived(new RemoteMessage(message));
        String screen = NotificationManagerCompat.SCREEN.keySet().toString();
        check("the service shows a message", screen, "[rich-push " + message.get("richId") + "]");
        check("once, though it came twice", NotificationManagerCompat.count, 1);
        Notification shown = NotificationManagerCompat.SCREEN.values().iterator().next();
        check("with text and picture", shown.built.get("contentText") + " " + shown.picture().sampleSize, "At noon? 4");
        check("and the number of the sender", shown.built.get("number"), 3);
        check("reports it", machine.receipts(message.get("richId")), "{delivered=1, fetched=1}");
        check("and leaves no job", Context.JOBS.scheduled.size(), 0);
        Offers offers = new Offers();
        offers.attach(shop);
        offers.setIntent(shop.open(message.get("richId")));
        offers.onCreate(null);
        for (int round = 0; round < 200 && !machine.receipts(message.get("richId")).contains("opened"); round++) Thread.sleep(50);
        check("a tap is reported", machine.receipts(message.get("richId")), "{delivered=1, fetched=1, opened=1}");
        NotificationManagerCompat.isAllowed = false;
        message = message();
        service.onMessageReceived(new RemoteMessage(message));
        check("without a permission nothing is shown", NotificationManagerCompat.SCREEN.size(), 1);
        check("and the server hears of it", machine.receipts(message.get("richId")), "{delivered=1, failed=1, fetched=1}");
        NotificationManagerCompat.isAllowed = true;
        message = message();
        machine.killServer();
        service.onMessageReceived(new RemoteMessage(message));
        check("without a server the message is shown", NotificationManagerCompat.SCREEN.size(), 2);
        Notification plain = NotificationManagerCompat.SCREEN.get("rich-push " + message.get("richId"));
        check("and without a number the launcher counts", plain.built.get("number"), null);
        check("and a job is left", Context.JOBS.scheduled.size(), 1);
        machine.serve();
        RichPushMessagingService.Later later = new RichPushMessagingService.Later();
        later.attach(shop);
        later.onStartJob(new JobParameters());
        check("which ends when all is sent", JobService.FINISHED.poll(60, TimeUnit.SECONDS), false);
        check("with the reason why it has no picture", machine.receipts(message.get("richId")), "{delivered=1, failed=1}");
        shop.richPush().signOut();
        check("a sign-out clears the screen", NotificationManagerCompat.SCREEN.size(), 0);
    }

    private static void check(String what, Object seen, Object wanted) {
        boolean isRight = wanted instanceof byte[] ? Arrays.equals((byte[]) wanted, (byte[]) seen) : Objects.equals(seen, wanted);
        if (!isRight) throw new AssertionError(what + ": expected " + wanted + ", saw " + seen);
        checks++;
        System.out.println("ok   " + what);
    }

    static String sorted(JSONObject object) throws JSONException { return map(object).toString(); }

    private static Map<String, String> map(JSONObject object) throws JSONException {
        Map<String, String> map = new TreeMap<>();
        JSONArray names = object.names();
        for (int place = 0; names != null && place < names.length(); place++) {
            map.put(names.getString(place), object.getString(names.getString(place)));
        }
        return map;
    }

    private static byte[] picture() {
        BufferedImage image = new BufferedImage(40, 30, BufferedImage.TYPE_INT_RGB);
        Random random = new Random(1);
        for (int place = 0; place < 1200; place++) image.setRGB(place % 40, place / 40, random.nextInt());
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            ImageIO.write(image, "png", out);
        } catch (IOException error) {
            throw new IllegalStateException(error);
        }
        return out.toByteArray();
    }
}
