//! Sentences of reviews in other languages than English.

use crate::datagen::review_words::Lines;

/// Culture tag, and sentences in its language.
pub(crate) const FOREIGN: [(&str, [Lines; 3]); 9] = [
    (
        "de",
        [
            &[
                "Sehr gut vorbereitetes Erstgespräch, klare Fragen und nach {days} Tagen eine Zusage.",
                "Das Termsheet war fair und auf zwei Seiten verständlich.",
                "Die Referenzen haben alles bestätigt, auch die kritischen.",
                "Würden wir jederzeit wieder machen!",
                "Rückmeldungen kamen immer am selben Tag, auch nach {n} Nachfragen.",
            ],
            &[
                "Freundliches Gespräch, aber am Ende blieb unklar, wer entscheidet.",
                "Die Antwort kam, allerdings erst nach {n} Wochen.",
                "Für eine kleine Runde in Ordnung, mehr nicht.",
                "Der Partner war gut, das Team dahinter eher dünn besetzt.",
                "Mal schnell, mal {n} Wochen Funkstille.",
            ],
            &[
                "Das Pitchdeck hatte offenbar niemand gelesen.",
                "Nach {n} Mails immer noch keine Antwort, das geht besser.",
                "Die Bewertung wurde kurz vor dem Notartermin um {percent} % gesenkt.",
                "Viel Zeit verloren, nichts gelernt.",
                "Ständig neue Unterlagen verlangt und dann abgesagt.",
            ],
        ],
    ),
    (
        "fr",
        [
            &[
                "Un premier échange très bien préparé, puis une réponse en {days} jours.",
                "Des conditions claires et équitables, sans surprise à la signature.",
                "L'équipe nous aide encore aujourd'hui à recruter.",
                "Je recommande sans hésiter.",
                "Nous avons appelé {n} fondateurs du portefeuille : tous ravis.",
            ],
            &[
                "Équipe sympathique, processus un peu long.",
                "La réponse est venue après {n} semaines et deux relances.",
                "Correct pour un amorçage, sans plus.",
                "On ne sait jamais vraiment qui décide.",
                "Bon premier rendez-vous, le second a été déplacé {n} fois.",
            ],
            &[
                "Personne n'avait lu notre présentation.",
                "Aucune réponse depuis {n} semaines malgré nos relances.",
                "Les conditions ont changé la veille de la signature.",
                "À éviter si vous êtes pressés.",
                "On nous a demandé {n} documents, puis plus rien.",
            ],
        ],
    ),
    (
        "es",
        [
            &[
                "Primera reunión muy bien preparada y respuesta en {days} días.",
                "Condiciones justas, explicadas cláusula por cláusula.",
                "Nos presentaron a {n} clientes después de invertir.",
                "Repetiría con ellos sin dudarlo.",
                "¡Ojalá todos los inversores trabajaran así!",
            ],
            &[
                "Gente amable, proceso lento.",
                "La respuesta llegó tras {n} semanas y varios correos.",
                "Bien para una ronda semilla, poco más.",
                "Depende mucho del socio que te toque.",
                "Buenas preguntas, pocas respuestas.",
            ],
            &[
                "Nadie había leído la presentación.",
                "Llevamos {n} semanas sin respuesta.",
                "Bajaron la valoración un {percent} % antes de firmar.",
                "Perdimos un tiempo que no teníamos.",
                "¿Para qué pedir {n} documentos si no iban a invertir?",
            ],
        ],
    ),
    (
        "pt",
        [
            &[
                "Primeira conversa excelente e resposta em {days} dias.",
                "Termos justos e claros, sem surpresas.",
                "Ajudaram com {n} contratações depois da rodada.",
                "Recomendo sem ressalvas.",
                "Foram transparentes do começo ao fim.",
            ],
            &[
                "Boa gente, processo demorado.",
                "A resposta veio depois de {n} semanas.",
                "Razoável para uma rodada pequena.",
                "Nunca ficou claro quem decide.",
                "Reuniões boas, retorno lento.",
            ],
            &[
                "Ninguém tinha lido a apresentação.",
                "Sumiram depois de {n} reuniões.",
                "Mudaram os termos na última hora.",
                "Não recomendo, infelizmente.",
                "Pediram {n} planilhas e desapareceram.",
            ],
        ],
    ),
    (
        "it",
        [
            &[
                "Colloquio preparato benissimo, risposta in {days} giorni.",
                "Condizioni eque e spiegate con pazienza.",
                "Ci hanno presentato {n} clienti dopo il round.",
                "Li consiglio a chiunque cerchi un investitore serio.",
                "Più rapidi di quanto avessimo sperato.",
            ],
            &[
                "Persone gentili, tempi lunghi.",
                "La risposta è arrivata dopo {n} settimane.",
                "Bene per un seed, non oltre.",
                "Non si capisce chi decida.",
                "Un po' vaghi, ma corretti.",
            ],
            &[
                "Nessuno aveva letto la presentazione.",
                "Spariti dopo {n} chiamate.",
                "Condizioni cambiate il giorno prima della firma.",
                "Tempo perso.",
                "Ci hanno chiesto {n} documenti e poi il silenzio.",
            ],
        ],
    ),
    (
        "pl",
        [
            &[
                "Świetnie przygotowane spotkanie i odpowiedź po {days} dniach.",
                "Uczciwe warunki, bez haczyków.",
                "Pomogli nam zatrudnić {n} osób.",
                "Polecam każdemu założycielowi.",
            ],
            &[
                "Mili ludzie, powolny proces.",
                "Odpowiedź przyszła po {n} tygodniach.",
                "W porządku, ale bez zachwytu.",
                "Trudno powiedzieć, kto tam decyduje.",
            ],
            &[
                "Nikt nie przeczytał naszej prezentacji.",
                "Od {n} tygodni cisza.",
                "Zmienili warunki tuż przed podpisaniem.",
                "Szkoda czasu.",
            ],
        ],
    ),
    (
        "ja",
        [
            &[
                "初回の面談から質問が的確で、{days}日後には返事をもらえました。",
                "条件は公平で、説明も丁寧でした。",
                "投資後も採用を手伝ってくれています。",
                "ぜひまた一緒に仕事をしたいです。",
            ],
            &[
                "担当者は親切でしたが、返事まで{n}週間かかりました。",
                "可もなく不可もなくという印象です。",
                "誰が決めるのか最後まで分かりませんでした。",
                "面談は良かったが、その後が遅い。",
            ],
            &[
                "資料を読んでいないようでした。",
                "{n}回連絡しましたが、返事がありません。",
                "直前に条件が変わりました。",
                "時間の無駄でした。",
            ],
        ],
    ),
    (
        "ko",
        [
            &[
                "첫 미팅부터 준비가 잘 되어 있었고 {days}일 만에 답을 받았습니다.",
                "조건이 공정하고 설명이 친절했습니다.",
                "투자 후에도 채용을 도와주고 있습니다.",
                "다음 라운드에도 꼭 함께하고 싶습니다.",
            ],
            &[
                "사람들은 친절하지만 절차가 느립니다.",
                "답변까지 {n}주가 걸렸습니다.",
                "무난했습니다.",
                "누가 결정하는지 끝까지 알기 어려웠습니다.",
            ],
            &[
                "자료를 읽지 않고 왔습니다.",
                "{n}번 연락했지만 답이 없습니다.",
                "계약 직전에 조건이 바뀌었습니다.",
                "시간 낭비였습니다.",
            ],
        ],
    ),
    (
        "uk",
        [
            &[
                "Чудово підготовлена зустріч, відповідь за {days} днів.",
                "Чесні умови без сюрпризів.",
                "Допомогли знайти {n} клієнтів.",
                "Раджу всім засновникам.",
            ],
            &[
                "Приємні люди, але довгий процес.",
                "Відповідь прийшла через {n} тижнів.",
                "Нормально, без захвату.",
                "Незрозуміло, хто вирішує.",
            ],
            &[
                "Ніхто не читав презентації.",
                "Мовчать уже {n} тижнів.",
                "Змінили умови перед підписанням.",
                "Згаяний час.",
            ],
        ],
    ),
];
