package org.example.shop;

import android.app.Notification;
import android.app.PendingIntent;
import android.app.job.JobInfo;
import android.app.job.JobParameters;
import android.app.job.JobScheduler;
import android.app.job.JobService;
import android.content.ComponentName;
import android.content.Context;
import android.content.Intent;
import android.graphics.Bitmap;
import android.graphics.BitmapFactory;
import android.os.Build;
import androidx.core.app.NotificationChannelCompat;
import androidx.core.app.NotificationCompat;
import androidx.core.app.NotificationManagerCompat;
import com.google.firebase.messaging.FirebaseMessagingService;
import com.google.firebase.messaging.RemoteMessage;
import java.io.File;

/** What Firebase calls, also when the app is not open. Each call has a thread of its own and may wait for the network. */
public final class RichPushMessagingService extends FirebaseMessagingService {
    /** What the app's Application is. */
    public interface Host {
        RichPush richPush();
        /** Opens the app at a notification; the id is null for a plain text. */
        Intent open(String richId);
        /** The icon in the status bar. */
        int icon();
    }

    private static final String CHANNEL = "rich-push";
    private static final int PICTURE_SIDE = 1024;
    /** Further messages wait meanwhile. */
    private static final long SETTLE_SECONDS = 3;
    private static final int JOB = 7_100;

    @Override public void onNewToken(String token) {
        if (!push().newToken(token)) Later.schedule(this);
    }

    @Override public void onMessageReceived(RemoteMessage message) {
        RichPush.Received received = push().receive(message.getData());
        if (received != null) show(received);
        // Scheduled before it is tried, because the process may end in between.
        Later.schedule(this);
        if (push().settle(SETTLE_SECONDS)) Later.cancel(this);
    }

    /** More messages waited than FCM keeps, and none of them comes any more. The server's inbox has them. */
    @Override public void onDeletedMessages() { Later.schedule(this); }

    private RichPush push() { return ((Host) getApplication()).richPush(); }

    private void show(RichPush.Received received) {
        NotificationManagerCompat manager = NotificationManagerCompat.from(this);
        if (!manager.areNotificationsEnabled()) {
            push().report(received.id, "failed", "not-shown");
            return;
        }
        int high = NotificationManagerCompat.IMPORTANCE_HIGH;
        manager.createNotificationChannel(new NotificationChannelCompat.Builder(CHANNEL, high).setName("Messages").build());
        // The same id takes the place of what is shown; a plain text has none.
        int number = received.id == null ? (int) System.nanoTime() : Integer.parseInt(received.id);
        manager.notify(CHANNEL, number, notification(received, number));
        push().shown(received);
    }

    private Notification notification(RichPush.Received received, int number) {
        Host host = (Host) getApplication();
        int flags = PendingIntent.FLAG_UPDATE_CURRENT | PendingIntent.FLAG_IMMUTABLE;
        NotificationCompat.Builder builder = new NotificationCompat.Builder(this, CHANNEL)
            .setSmallIcon(host.icon())
            .setContentTitle(received.title)
            .setContentText(received.text)
            .setSubText(received.subtitle)
            .setGroup(received.thread)
            .setSilent(received.isSilent)
            .setPriority(NotificationCompat.PRIORITY_HIGH)
            .setOnlyAlertOnce(true).setAutoCancel(true)
            .setContentIntent(PendingIntent.getActivity(this, number, host.open(received.id), flags));
        // Without one the launcher counts what is shown.
        if (received.badge != null) builder.setNumber(received.badge);
        Bitmap picture = received.picture == null ? null : decoded(received.picture);
        if (picture == null) return builder.setStyle(new NotificationCompat.BigTextStyle().bigText(received.text)).build();
        NotificationCompat.BigPictureStyle style = new NotificationCompat.BigPictureStyle().bigPicture(picture);
        if (Build.VERSION.SDK_INT >= 31) style.setContentDescription(received.altText);
        return builder.setStyle(style.setSummaryText(received.text)).setLargeIcon(picture).build();
    }

    /** Small enough to be handed to the system, however many pixels the file says that it has; null for what is no picture. */
    private static Bitmap decoded(File file) {
        BitmapFactory.Options options = new BitmapFactory.Options();
        options.inJustDecodeBounds = true;
        BitmapFactory.decodeFile(file.getPath(), options);
        options.inJustDecodeBounds = false;
        options.inSampleSize = 1;
        while (Math.max(options.outWidth, options.outHeight) / options.inSampleSize > PICTURE_SIDE) options.inSampleSize *= 2;
        return BitmapFactory.decodeFile(file.getPath(), options);
    }

    /** Does what the network has prevented, at growing intervals. */
    public static final class Later extends JobService {
        static void schedule(Context context) {
            JobInfo.Builder job = new JobInfo.Builder(JOB, new ComponentName(context, Later.class));
            job.setRequiredNetworkType(JobInfo.NETWORK_TYPE_ANY);
            job.setBackoffCriteria(JobInfo.DEFAULT_INITIAL_BACKOFF_MILLIS, JobInfo.BACKOFF_POLICY_EXPONENTIAL);
            context.getSystemService(JobScheduler.class).schedule(job.build());
        }

        static void cancel(Context context) { context.getSystemService(JobScheduler.class).cancel(JOB); }

        @Override public boolean onStartJob(JobParameters parameters) {
            RichPush push = ((Host) getApplication()).richPush();
            new Thread(() -> jobFinished(parameters, !push.settle(60))).start();
            return true;
        }

        @Override public boolean onStopJob(JobParameters parameters) { return true; }
    }
}
