"""What walls say, in many languages, and the marks that the software behind them leaves.

A *phrase* is matched against a whole part of a title or a whole line, in small letters: a text
about such pages says more. A *mark* is text of the page's source, in small letters, that stands
only on the wall itself: of a guard's scripts some are on every page behind it.

Pure.
"""
# ruff: noqa: RUF001 # letters of other scripts look like Latin ones; they are meant

from __future__ import annotations

BOT_MARKS = r"""
_cf_chl_opt
cf-chl-widget
cf_chl_prog
challenge-error-text
cf-error-details
captcha-delivery.com
px-captcha
sec-if-cpt-container
/_sec/cp_challenge
errors.edgesuite.net
incapsula incident id
bm-verify=
sucuri_cloudproxy_js
ddos-guard/js-challenge
check.ddos-guard.net
/.within.website/x/cmd/anubis/
vercel security checkpoint
validatecaptcha
""".strip().split("\n")

# On many pages that are none: only with a word such as these, and hardly anything else.
GUARD_MARKS = r"""
_pxappid
_incapsula_resource
token.awswaf.com
awswafintegration
kpsdk.
g-recaptcha
h-captcha
cf-turnstile
geetest_
smartcaptcha
friendlycaptcha
/recaptcha/api
""".strip().split("\n")
GUARD_WORDS = r"""
robot
captcha
human
verif
security check
unusual traffic
bestätigen
sicherheits
vérifi
sécurité
seguridad
segurança
sicurezza
проверк
робот
验证
驗證
認証
確認
보안
تحقق
""".strip().split("\n")

BOT_PHRASES = r"""
just a moment
checking (?:if the site connection is secure|your browser(?: before accessing.*)?)
(?:please )?(?:verify|confirm|prove)(?: that)? you(?:'re| are) (?:a )?(?:not a robot|human)
verifying (?:that )?you are (?:a )?human.*
(?:are you|you(?:'re| are) not) a (?:robot|human)
(?:i'm|i am) not a robot
attention required!?
access (?:to this page has been )?denied
pardon our interruption
robot check
security check(?:point)?(?: required)?
human verification
bot verification
request unsuccessful.*
(?:please )?enable (?:javascript|js)(?: and cookies)? to continue.*
(?:please )?(?:complete|solve) the (?:security check|captcha).*
our systems have detected unusual traffic.*
making sure you(?:'re| are) not a bot!?
one more step
ddos protection by .*
(?:bitte )?bestätigen sie, dass sie (?:kein roboter|ein mensch) sind
sicherheitsüberprüfung
zugriff verweigert
vérification de sécurité
accès refusé
(?:je ne|vous n'êtes pas|prouvez que vous n'êtes pas) .{0,10}robot
verificación de seguridad
acceso denegado
no soy un robot
verifica di sicurezza
accesso negato
non sono un robot
verificação de segurança
acesso negado
não sou um robô
toegang geweigerd
ik ben geen robot
доступ ограничен
доступ запрещ[её]н
вы не робот
я не робот
проверка браузера.*
odmowa dostępu
nie jestem robotem
erişim engellendi
ben robot değilim
アクセスが拒否されました
私はロボットではありません
セキュリティチェック
访问被拒绝
安全验证
人机验证
请完成安全验证.*
접근이 거부되었습니다
로봇이 아닙니다
보안 확인
تم رفض الوصول
أنا لست روبوت.*
""".strip().split("\n")

CONSENT_MARKS = r"""
consent.google.
consent.youtube.
collectconsent?sessionid
guce.yahoo.
consent.yahoo.
/privacy-wall
consent-wall-form
myprivacy-static.dpgmedia
privacygate-confirm
""".strip().split("\n")

CONSENT_PHRASES = r"""
before you continue(?: to .{1,30})?
bevor (?:sie|du|es) (?:.{1,30} )?(?:fortfahren|fortfährst|weitergeht|weitermachen)
avant d(?:e continuer|'accéder)(?: .{1,30})?
antes de (?:continuar|ir)(?: .{1,30})?
prima di continuare(?: .{1,30})?
voordat je (?:verdergaat|doorgaat)(?: .{1,30})?
zanim przejdziesz(?: .{1,40})?
innan du fortsätter(?: .{1,30})?
prije nego što nastavite.*
než budete pokračovat.*
прежде чем (?:продолжить|перейти).*
devam etmeden önce.*
.{0,20}に進む前に
続行する前に.*
(?:继续|繼續).{0,12}之前
(?:your|ihre|vos) (?:privacy|privatsphäre|choices) (?:choices|einstellungen)
we value your privacy
""".strip().split("\n")

MISSING_PHRASES = r"""
(?:http )?(?:error|fehler|erreur|errore|erro|fout|hata|fel|feil)?:? ?404(?: ?error)?!?
(?:ошибка|błąd|virhe|chyba|hiba) 404
404 .{0,12}not found
(?:the |this |that )?(?:requested )?(?:page|url|file|document|content) not (?:found|available)
the (?:requested )?(?:page|url|document|content) (?:was|is) (?:not|no longer) (?:found|available)
the page (?:that )?you (?:requested|(?:are|were) looking for) .{0,20}(?:not|n't|no longer) .{0,20}
the (?:requested )?(?:page|url|file) (?:could not|cannot|can't|couldn't) be found
(?:the |this )?page (?:does not|doesn't|no longer) exists?(?: anymore)?
(?:nothing|no page|not) (?:was )?found(?: here)?
we (?:can't|cannot|couldn't) find (?:that|the|this) page.*
this page isn't available
(?:die )?(?:angeforderte )?seite (?:wurde )?nicht gefunden
(?:diese )?seite existiert nicht(?: mehr)?
seite nicht verfügbar
(?:la )?page (?:demandée )?(?:est )?(?:introuvable|non trouvée|inexistante)
page n'existe (?:pas|plus)
cette page n'existe (?:pas|plus)
(?:la )?página (?:solicitada )?no (?:se ha )?(?:encontrada|existe|disponible|encontrado)
no se (?:encuentra|ha encontrado) la página
(?:la )?pagina (?:richiesta )?non (?:è stata )?(?:trovata|esiste|disponibile)
(?:a )?página (?:solicitada )?não (?:foi )?(?:encontrada|existe|disponível)
(?:de )?pagina (?:is |werd )?niet gevonden
(?:deze )?pagina bestaat niet(?: meer)?
(?:страница|сторінка|документ) не (?:найдена?|знайдена|существует)
страница (?:была )?удалена
(?:nie znaleziono strony|strona nie (?:została znaleziona|istnieje)|strony nie znaleziono)
sidan (?:kunde inte hittas|hittades inte|finns inte)
siden (?:blev ikke fundet|ble ikke funnet|findes ikke)
sivua ei löyd[yt].*
sayfa bulunamadı
aradığınız sayfa (?:bulunamadı|mevcut değil)
stránka (?:nebyla nalezena|nenalezena|neexistuje)
az oldal nem található
pagina nu (?:a fost găsită|există)
η σελίδα δεν βρέθηκε
страницата не е намерена
stranica nije pronađena
(?:お探しの|指定された)?ページ(?:が|は)(?:見つかりません(?:でした)?|存在しません)
(?:您访问的)?(?:该)?(?:页面|网页|頁面)(?:不存在|未找到|找不到了?|已删除)
找不到(?:该)?(?:页面|网页|頁面)
(?:요청하신 )?페이지를 찾을 수 없습니다
존재하지 않는 페이지입니다
(?:الصفحة (?:غير موجودة|المطلوبة غير موجودة)|لم يتم العثور على الصفحة)
הדף (?:לא נמצא|המבוקש לא נמצא)
ไม่พบหน้า.*
không tìm thấy trang
halaman tidak ditemukan
पृष्ठ नहीं मिला
""".strip().split("\n")

ERROR_MARKS = r"""
you're seeing this error because you have <code>debug = true</code>
the debugger caught an exception in your wsgi application
<h1>server error in '/
<title>apache2 ubuntu default page
<title>apache2 debian default page
<h1>whitelabel error page
<title>iis windows
""".strip().split("\n")

ERROR_PHRASES = r"""
(?:(?:http )?(?:error )?50[0-9]:? ?-? ?)?service (?:temporarily )?unavailable
(?:(?:http )?(?:error )?50[0-9]:? ?-? ?)?(?:internal )?server error(?: ?\(?50[0-9]\)?)?
(?:(?:http )?(?:error )?50[0-9]:? ?-? ?)?(?:bad gateway|gateway time-?out)
error establishing a database connection
database (?:connection )?error
welcome to nginx!?
apache2 .{0,12}default page: it works
it works!
test page for .{0,40}
(?:php )?(?:fatal|parse) error: .* in .+ on line [0-9]+
(?:warning|notice): .* in .+\.php on line [0-9]+
(?:uncaught )?(?:mysqli?_|pdo).{0,200}
traceback \(most recent call last\):?
sqlstate\[.{0,200}
there has been a critical error on (?:this|your) website.*
briefly unavailable for scheduled maintenance.*
(?:currently )?(?:under|undergoing|down for|in) (?:scheduled )?maintenance(?: mode)?
(?:.{0,40} is |we are |we're )(?:currently )?(?:under|undergoing|down for|in) maintenance.{0,40}
(?:site|scheduled|planned) maintenance|maintenance mode
(?:we'll|we will) be (?:right )?back(?: soon| shortly)?
application error(?:: a (?:client|server)-side exception has occurred.*)?
(?:an|an unexpected|a technical) (?:error|problem) (?:has )?occurred.*
something went wrong
temporarily (?:unavailable|offline|down)
(?:we are experiencing )?technical difficulties
(?:wir führen )?wartungsarbeiten.*
wartungsmodus
interner serverfehler
dienst nicht verfügbar
fehler beim aufbau einer datenbankverbindung
(?:site )?en maintenance
erreur interne du serveur
service indisponible
erreur lors de la connexion à la base de données
en mantenimiento
error interno del servidor
error al establecer una conexión con la base de datos
(?:sito )?in manutenzione
errore interno del server
in onderhoud
em manutenção
erro interno do servidor
технические работы
сайт на обслуживании
внутренняя ошибка сервера
сервис (?:временно )?недоступен
przerwa techniczna
strona w przebudowie
błąd (?:serwera|połączenia z bazą danych)
bakım çalışması
underhållsarbete
(?:ただいま)?メンテナンス中(?:です)?
サーバーエラー
系统维护(?:中)?
服务器(?:内部)?错误
서버 오류
점검 중(?:입니다)?
الموقع تحت الصيانة
الموقع قيد الصيانة
""".strip().split("\n")

LOGIN_PHRASES = r"""
(?:please )?(?:log ?in|sign ?in|log ?on)(?: to .{1,40}| required| page)?
login
you (?:must|need to) (?:be logged in|log ?in|sign in).*
(?:create an account or )?(?:log in|sign up)(?: or (?:sign up|register))?(?: to .{1,40})?
(?:bitte )?(?:anmelden|einloggen|anmeldung)
se connecter
connexion
identifiez-vous
iniciar sesión
acceso
inicia sesión
accedi
effettua l'accesso
entrar
fazer login
iniciar sessão
inloggen
aanmelden
log ind
logg inn
logga in
kirjaudu(?: sisään)?
вход
войти
авторизация
zaloguj(?: się)?
logowanie
giriş(?: yap)?
oturum aç
přihlášení
bejelentkezés
autentificare
σύνδεση
ログイン
登录
登入
로그인
تسجيل الدخول
התחברות
เข้าสู่ระบบ
đăng nhập
masuk
""".strip().split("\n")
