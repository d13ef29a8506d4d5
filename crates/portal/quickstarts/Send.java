// Usage: API_SECRET=... java Send.java +4915112345678
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Base64;
import java.util.UUID;

class Send {
    public static void main(String[] arguments) throws Exception {
        String pair = "API_KEY:" + System.getenv("API_SECRET");
        String body = "{\"to\": \"" + arguments[0] + "\", \"text\": \"Hello from Java\"}";
        HttpRequest request = HttpRequest.newBuilder(URI.create("BASE_URL/sms"))
            .timeout(Duration.ofSeconds(30))
            .header("Authorization", "Basic " + Base64.getEncoder().encodeToString(pair.getBytes()))
            .header("Content-Type", "application/json")
            // A repeated request with the same key sends nothing twice.
            .header("Idempotency-Key", UUID.randomUUID().toString())
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
        HttpResponse<String> response = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .build()
            .send(request, HttpResponse.BodyHandlers.ofString());
        System.out.println(response.body());
        if (response.statusCode() >= 300) {
            System.exit(1);
        }
    }
}
